/** GitHub's secondary limit on new content, counted over sliding windows, for callers that want the limit. */
import { type Call, type Layer, Refusal } from './http.ts'

/** "No more than 80 content-generating requests per minute and no more than 500 … per hour": docs.github.com, rate limits. */
const WINDOWS = [
  { requestsMax: 80, lengthMs: 60_000 },
  { requestsMax: 500, lengthMs: 3_600_000 },
] as const

/**
 * GitHub's sentence for the limit: clients recognise the limit by the sentence, because the status equals that of a
 * missing permission.
 */
const SENTENCE =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.'

/** Whether a call counts. */
export type Counted = (call: Call) => boolean

/** GitHub doesn't document the counted calls; a count of every change overlooks nothing. */
export const everyChange: Counted = ({ method }) => ['POST', 'PATCH', 'PUT'].includes(method)

/** Only new content for people: a created or submitted review, a comment. */
export const newContent: Counted = ({ method, route }) =>
  method === 'POST' && /\/(?:reviews|reviews\/:id\/events|comments)$/.test(route ?? '')

export function contentCreationLimit(counted: Counted, now: () => number): Layer {
  const createdAt = new Map<number, number[]>()
  return async (call, next) => {
    const { actor } = call
    if (actor.kind !== 'installation' || !counted(call)) return next(call)
    const longestMs = Math.max(...WINDOWS.map(({ lengthMs }) => lengthMs))
    const times = (createdAt.get(actor.installationId) ?? []).filter((time) => time > now() - longestMs)
    createdAt.set(actor.installationId, times)
    for (const { requestsMax, lengthMs } of WINDOWS) {
      // The request that must leave the window before the next request fits.
      const oldest = times.at(-requestsMax)
      if (oldest === undefined || oldest <= now() - lengthMs) continue
      return secondaryLimit(Math.ceil((oldest + lengthMs - now()) / 1_000), SENTENCE).answer()
    }
    times.push(now()) // before the work: each of many concurrent calls counts
    return next(call)
  }
}

/**
 * The answer of every secondary limit. The primary limit's headers stay unchanged: the primary budget isn't used up.
 */
export function secondaryLimit(
  retryAfterSeconds: number,
  sentence = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
): Refusal {
  return new Refusal(403, sentence, undefined, { 'retry-after': String(retryAfterSeconds) })
}
