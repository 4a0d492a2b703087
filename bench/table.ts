/** Prints measurements as one table with aligned columns: text to the left, numbers to the right. */
import { type Measurement, ratioOf, type Samples, summarize } from './measurement.ts'

const HEADINGS = ['', 'unit', 'median', 'min–max', 'n', 'beside', 'its median', 'its min–max', 'ratio'] as const
/** Columns of text; all other columns hold numbers. */
const TEXT_COLUMNS = new Set([0, 1, 5])
const GAP = '  '
/** The meaningful digits: a sample's spread is above one per cent nearly everywhere. */
const SIGNIFICANT_DIGITS = 3

/** The table as text, without a line end after its last line. Empty columns are left out. */
export function tableOf(measurements: readonly Measurement[]): string {
  const lines = [...Map.groupBy(measurements, ({ group }) => group)].flatMap(([group, members]) => [
    ...(group === undefined ? [] : [group]),
    ...members.map(rowOf),
  ])
  const rows = lines.filter((line) => Array.isArray(line))
  const used = HEADINGS.map((_, column) => column === 0 || rows.some((row) => row[column] !== ''))
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const print = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        TEXT_COLUMNS.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .filter((_, column) => used[column])
      .join(GAP)
      .trimEnd()
  return [
    print(HEADINGS),
    print(widths.map((width) => '─'.repeat(width))),
    ...lines.map((line) => (Array.isArray(line) ? print(line) : `\n${line}`)),
  ].join('\n')
}

function rowOf(measurement: Measurement): string[] {
  const { what, unit, samples, peer } = measurement
  const ratio = ratioOf(measurement)
  const [median = '', range = ''] = cellsOf(measurement)
  const [peerMedian = '', peerRange = ''] = peer ? cellsOf(peer) : []
  return [
    what,
    unit,
    median,
    range,
    String(samples.length),
    peer?.what ?? '',
    peerMedian,
    peerRange,
    ratio === undefined ? '' : `× ${ratio.toFixed(2)}`,
  ]
}

/** Median and range; a range of one value is left out. */
function cellsOf(samples: Samples): [string, string] {
  const { median, min, max } = summarize(samples)
  return [numberOf(median), min === max ? '' : `${numberOf(min)}–${numberOf(max)}`]
}

function numberOf(value: number): string {
  const digits = value === 0 ? 0 : Math.max(0, SIGNIFICANT_DIGITS - 1 - Math.floor(Math.log10(Math.abs(value))))
  return String(Number(value.toFixed(digits)))
}
