/** Readings of lenses in time: how long they took together, how many overlapped, how long places stood idle. Pure. */

/** When one review was read, ms of the world. */
export interface Reading {
  readonly from: number
  readonly to: number
}

/** Readings in the order in which they began, and when everything began. */
export interface Readings {
  readonly readings: readonly Reading[]
  readonly startedAt: number
}

/** ms from the beginning to the end of the last reading. */
export function makespan({ readings, startedAt }: Readings): number {
  return Math.max(...readings.map(({ to }) => to)) - startedAt
}

/** How much longer than the ideal, %: `beforeEachMs` passes before each reading there too. */
export function percentBeyond(fleet: Readings, ceiling: number, beforeEachMs = 0): number {
  return 100 * (makespan(fleet) / idealMs(fleet.readings, ceiling, beforeEachMs) - 1)
}

/** ms until the last of these readings ends, if each begins as soon as a place is free, after so many ms of its own. */
function idealMs(readings: readonly Reading[], ceiling: number, beforeEachMs: number): number {
  const slots = Array.from({ length: ceiling }, () => 0)
  for (const { from, to } of readings) {
    const free = slots.indexOf(Math.min(...slots))
    slots[free] = (slots[free] ?? 0) + beforeEachMs + (to - from)
  }
  return Math.max(...slots)
}

/** The most of them at one moment; one that begins as another one ends is not beside it. */
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

/** ms for which each place that was given up stood idle, until the next reading began. */
export function handOvers(readings: readonly Reading[], ceiling: number): number[] {
  const ends = readings.map(({ to }) => to).toSorted((one, other) => one - other)
  const begins = readings.map(({ from }) => from).toSorted((one, other) => one - other)
  return begins.slice(ceiling).map((from, index) => from - (ends[index] ?? from))
}
