/** GitHub's secondary limit on creating content, counted over sliding windows, for whoever asks for it. */
import { type Call, type Layer, Refusal } from './http.ts'

/** "No more than 80 content-generating requests per minute and no more than 500 … per hour": docs.github.com, rate limits. */
const WINDOWS = [
  { requestsMax: 80, lengthMs: 60_000 },
  { requestsMax: 500, lengthMs: 3_600_000 },
] as const

/** GitHub's sentence for it, which clients tell the limit by: the status is that of a missing permission. */
const SENTENCE =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.'

/** Which calls count. */
export type Counted = (call: Call) => boolean

/** GitHub doesn't say what it counts; nothing is overlooked if everything counts that changes something. */
export const everyChange: Counted = ({ method }) => ['POST', 'PATCH', 'PUT'].includes(method)

/** Only what people see as new: a review that is made or said, a comment. */
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
      // The request that has to leave the window before there is room for another one.
      const oldest = times.at(-requestsMax)
      if (oldest === undefined || oldest <= now() - lengthMs) continue
      return secondaryLimit(Math.ceil((oldest + lengthMs - now()) / 1_000), SENTENCE).answer()
    }
    times.push(now()) // before the work: of many at once, each one counts
    return next(call)
  }
}

/** The answer of every secondary limit. The primary limit's headers stay as they are: that budget isn't used up. */
export function secondaryLimit(
  retryAfterSeconds: number,
  sentence = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
): Refusal {
  return new Refusal(403, sentence, undefined, { 'retry-after': String(retryAfterSeconds) })
}
