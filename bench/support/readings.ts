/** Readings of lenses in time: makespan, overlaps, and idle times of slots. Pure. */

/** The begin and end of a reading, ms of the world. */
export interface Reading {
  readonly from: number
  readonly to: number
}

/** Readings in the order of their beginnings, and the beginning of everything. */
export interface Readings {
  readonly readings: readonly Reading[]
  readonly startedAt: number
}

/** ms from the beginning to the end of the last reading. */
export function makespan({ readings, startedAt }: Readings): number {
  return Math.max(...readings.map(({ to }) => to)) - startedAt
}

/** The excess over the ideal, %: `beforeEachMs` passes before each reading in the ideal too. */
export function percentBeyond(fleet: Readings, ceiling: number, beforeEachMs = 0): number {
  return 100 * (makespan(fleet) / idealMs(fleet.readings, ceiling, beforeEachMs) - 1)
}

/** ms until the end of the last of these readings, if each begins as soon as a slot is free, after `beforeEachMs`. */
function idealMs(readings: readonly Reading[], ceiling: number, beforeEachMs: number): number {
  const slots = Array.from({ length: ceiling }, () => 0)
  for (const { from, to } of readings) {
    const free = slots.indexOf(Math.min(...slots))
    slots[free] = (slots[free] ?? 0) + beforeEachMs + (to - from)
  }
  return Math.max(...slots)
}

/** The most concurrent readings; a reading that begins at another's end is not concurrent. */
export function peakOf(readings: readonly Reading[]): number {
  const changes = readings.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ])
  let held = 0
  let most = 0
  for (const { by } of changes.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
    held += by
    most = Math.max(most, held)
  }
  return most
}

/** ms of idleness of each released slot, until the next reading began. */
export function handOvers(readings: readonly Reading[], ceiling: number): number[] {
  const ends = readings.map(({ to }) => to).toSorted((one, other) => one - other)
  const begins = readings.map(({ from }) => from).toSorted((one, other) => one - other)
  return begins.slice(ceiling).map((from, index) => from - (ends[index] ?? from))
}
