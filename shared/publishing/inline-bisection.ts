/**
 * Bisection of the inline comments that GitHub refuses. GitHub refuses the whole review and doesn't name the comment,
 * so each try moves half of the suspects into the body (A4, AW79). Pure.
 */

/** Positions from `from` up to, not including, `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** Places of a review's comments, to be tried. */
export interface Placing {
  readonly count: number
  /** Comments in the body; all others stand inline. */
  readonly inBody: Range
  /** A refused comment, if any, is among the suspects. */
  readonly suspects: Range
  /** The smallest part in the body that GitHub has accepted so far. */
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
 * The next try after a refusal; undefined if no try is left. One bad comment among n needs at most log2(n) + 1 further
 * tries. For several, the last try is the part accepted before, or all in the body. A refusal of something else goes there at once.
 */
export function afterRefusal(placing: Placing, isAboutPlace = true): Placing | undefined {
  const { count, inBody, suspects, accepted } = placing
  const everything = allInBody(count).inBody
  if (isSame(inBody, everything)) return undefined
  if (!isAboutPlace) return allInBody(count)
  if (accepted !== undefined && isSame(inBody, accepted)) return { ...placing, inBody: everything }
  // No comment that was inline is the only bad one: there are several.
  if (isSame(inBody, suspects)) return { ...placing, inBody: accepted ?? everything }
  // The bad comment was still inline.
  const rest = sizeOf(inBody) === 0 ? suspects : { from: suspects.from, to: inBody.from }
  return sizeOf(rest) <= 1 ? { ...placing, suspects: rest, inBody: rest } : { ...placing, ...halved(rest) }
}

/** The next try after an acceptance, with fewer comments in the body; undefined if the placing is final. */
export function afterAcceptance(placing: Placing): Placing | undefined {
  const { count, inBody, accepted } = placing
  const asBefore = accepted !== undefined && isSame(inBody, accepted)
  if (sizeOf(inBody) <= 1 || asBefore || sizeOf(inBody) === count) return undefined
  return { ...placing, accepted: inBody, ...halved(inBody) }
}

/** Most tries: the first, one for each halving, the last suspect, and the last resorts. */
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
