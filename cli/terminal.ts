/** The abilities of a stream: colours, and lines that are written over. Decided once for each stream. */
import picocolors from 'picocolors'

export interface Terminal {
  readonly stream: NodeJS.WriteStream
  /** True if lines may be written over. */
  readonly isLive: boolean
  readonly colors: ReturnType<typeof picocolors.createColors>
  /** Width in characters. */
  columns(): number
}

/** The width of a terminal that reports none. */
const COLUMNS_DEFAULT = 80

/** Colour only with a terminal and without NO_COLOR (no-color.org); a `dumb` terminal gets neither colour nor movement. */
export function terminalOf(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Terminal {
  const isLive = stream.isTTY === true && environment.TERM !== 'dumb'
  return {
    stream,
    isLive,
    colors: picocolors.createColors(isLive && !environment.NO_COLOR),
    columns: () => stream.columns ?? COLUMNS_DEFAULT,
  }
}
