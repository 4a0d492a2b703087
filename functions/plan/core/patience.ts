/** How long a run waits for GitHub before it is planned. Pure. */
import { type ErrorCode, Retry } from '../../../shared/base/errors.ts'
import { PLAN_PATIENCE_MS } from '../../../shared/base/limits.ts'

/** What may last: a head that isn't visible yet has its own, shorter time, and what we contend for among ourselves ends soon. */
const LASTING: readonly ErrorCode[] = ['github_throttled', 'github_unreachable', 'busy']

/** True if it has kept an execution that began at `startedAt` (ISO 8601; unknown if undefined) from its plan for too long. */
export function isOutOfPatience({ code }: Pick<Retry, 'code'>, startedAt: string | undefined, now: number): boolean {
  return LASTING.includes(code) && startedAt !== undefined && now - Date.parse(startedAt) >= PLAN_PATIENCE_MS
}

/** What is met where a limit of GitHub is known to last until `until`, ms UTC. */
export function throttledUntil(until: number, now: number): Retry {
  return new Retry('github_throttled', 'GitHub takes nothing of this installation for now.', until - now)
}
