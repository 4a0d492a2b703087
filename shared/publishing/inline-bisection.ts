/**
 * Which inline comments of a review stand in its body instead, because GitHub refuses the whole review and doesn't say
 * which comment it minds (A4, AW79). Halves what is suspected with each try. Pure.
 */

/** Positions from `from` up to, not including, `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** A way to place a review's comments, to be tried. */
export interface Placing {
  /** How many comments the review has. */
  readonly count: number
  /** These stand in the body, the others inline. */
  readonly inBody: Range
  /** If there is one that GitHub refuses, it is among these. */
  readonly suspects: Range
  /** The smallest part in the body with which GitHub accepted the review so far. */
  readonly accepted?: Range
}

const NONE: Range = { from: 0, to: 0 }

export function sizeOf({ from, to }: Range): number {
  return to - from
}

/** The first try: everything inline. */
export function allInline(count: number): Placing {
  return { count, inBody: NONE, suspects: { from: 0, to: count } }
}

/** The last try: nothing inline. */
export function allInBody(count: number): Placing {
  return { ...allInline(count), inBody: { from: 0, to: count } }
}

/**
 * What to try after GitHub refused this placing; undefined if nothing is left to try. With one bad comment among n at
 * most log2(n) + 1 further tries find it; with several, the last try is what was accepted before, or all in the body.
 */
export function afterRefusal(placing: Placing): Placing | undefined {
  const { count, inBody, suspects, accepted } = placing
  const everything = allInBody(count).inBody
  if (isSame(inBody, everything)) return undefined
  if (accepted !== undefined && isSame(inBody, accepted)) return { ...placing, inBody: everything }
  // It is none of those that were inline, as far as one bad comment goes: there are several.
  if (isSame(inBody, suspects)) return { ...placing, inBody: accepted ?? everything }
  // Whatever it minds was still inline.
  const rest = sizeOf(inBody) === 0 ? suspects : { from: suspects.from, to: inBody.from }
  return sizeOf(rest) <= 1 ? { ...placing, suspects: rest, inBody: rest } : { ...placing, ...halved(rest) }
}

/** What to try after GitHub accepted this placing, to leave fewer in the body; undefined if it is to be said as it is. */
export function afterAcceptance(placing: Placing): Placing | undefined {
  const { count, inBody, accepted } = placing
  const asBefore = accepted !== undefined && isSame(inBody, accepted)
  if (sizeOf(inBody) <= 1 || asBefore || sizeOf(inBody) === count) return undefined
  return { ...placing, accepted: inBody, ...halved(inBody) }
}

/** Tries that are needed at most: the first one, one for each halving, the one that is left, and the last resorts. */
export function triesMax(count: number): number {
  return 4 + Math.ceil(Math.log2(Math.max(1, count)))
}

/** The upper half goes into the body. */
function halved(suspects: Range): { readonly suspects: Range; readonly inBody: Range } {
  const middle = suspects.from + Math.ceil(sizeOf(suspects) / 2)
  return { suspects, inBody: { from: middle, to: suspects.to } }
}

function isSame(a: Range, b: Range): boolean {
  return a.from === b.from && a.to === b.to
}
