/** The decisions of a poster. Pure. */
import { POST_ERRORS_MAX, POST_UNSEEN_MAX } from '../../../shared/base/limits.ts'
import type { Message } from '../../../shared/ledger/message.ts'
import type { ShownResource } from '../../../shared/ledger/resource.ts'
import type { Resource } from '../../../shared/publishing/github-payloads.ts'
import { headVisibility, type PullRequestShown } from '../../../shared/runs/head.ts'
import type { Run } from '../../../shared/runs/run.ts'
import type { Thread } from '../../../shared/runs/thread.ts'

/** The reason against posting a message now; undefined if the message may be posted. */
export function stopReason(facts: {
  readonly run: Run
  readonly thread: Thread | undefined
  readonly message: Pick<Message, 'state' | 'attempt'>
  readonly halted: boolean
  /** As GitHub shows the pull request. */
  readonly pullRequest: PullRequestShown
  /** ms UTC */
  readonly now: number
}): 'withdrawing' | 'not_live' | 'halted' | 'not_visible' | 'head_moved' | 'closed' | undefined {
  const { run, thread, message, pullRequest } = facts
  if (message.state === 'withdrawing') return 'withdrawing'
  const live = thread?.liveRun
  if (live?.runId !== run.runId || live.attempt !== message.attempt || run.state !== 'concluded') return 'not_live'
  if (facts.halted) return 'halted'
  const head = headVisibility(pullRequest, run, facts.now)
  if (head === 'not_yet') return 'not_visible'
  if (head !== 'live') return 'head_moved'
  // A pull request that was reopened since belongs to a later event, and the run has joined that event.
  return pullRequest.state === 'closed' && pullRequest.updatedAt > run.eventAt ? 'closed' : undefined
}

/** The next attempt after an outcome that is unknown; `give_up` after too many errors (LE9). */
export function afterUnknown(
  because: { readonly code: string; readonly afterMs: number },
  errors: number,
  now: number,
): { readonly kind: 'postpone'; readonly at: number; readonly error: boolean } | { readonly kind: 'give_up' } {
  // A limit of GitHub or AWS uses time, not attempts, and so does a head that is too new to be visible.
  const error = because.code !== 'github_throttled' && because.code !== 'busy' && because.code !== 'head_not_visible'
  // A read-back that lags is no failed attempt: more reads follow, errors among them included, within a bound.
  const isLookedFor = because.code === 'not_shown' || errors >= POST_ERRORS_MAX
  const most = isLookedFor ? POST_UNSEEN_MAX : POST_ERRORS_MAX
  if (error && errors + 1 >= most) return { kind: 'give_up' }
  const growing = error ? because.afterMs * 2 ** errors : because.afterMs
  return { kind: 'postpone', at: now + growing, error }
}

/**
 * Decides whether a resource may be posted. `later`: the end of the run, of a halt or of GitHub's lag decides. `void`:
 * an overtaken run gets no verdict published (PR2, PR5), only its completed check run and its missing label.
 */
export function mayPost(facts: {
  readonly desired: Resource
  readonly raisedBy: Run | undefined
  readonly halted: boolean
  /** As GitHub shows the pull request; needed for a concluded run. */
  readonly pullRequest: PullRequestShown | undefined
  /** ms UTC */
  readonly now: number
}): 'post' | 'later' | 'void' | 'head_moved' {
  const { desired, raisedBy, halted, pullRequest } = facts
  if (halted || raisedBy?.state === 'ending') return 'later'
  if (raisedBy?.state === 'concluded') {
    const head = pullRequest ? headVisibility(pullRequest, raisedBy, facts.now) : 'not_yet'
    if (head === 'not_yet') return 'later'
    return head === 'live' ? 'post' : 'head_moved'
  }
  const overtaken = raisedBy === undefined || (raisedBy.state === 'ended' && raisedBy.outcome !== 'reviewed')
  const leftBehind =
    (desired.kind === 'check_run' && desired.status === 'completed') ||
    (desired.kind === 'label' && desired.label === 'none')
  return overtaken && !leftBehind ? 'void' : 'post'
}

/** True if the newest generation is due, or a recheck. */
export function isOwed(resource: ShownResource, now: number): boolean {
  const { shownGeneration, generation, tryAt = now } = resource
  return (shownGeneration < generation && tryAt <= now) || isRecheckDue(resource, now)
}

/** True if the recheck of an item is due. */
function isRecheckDue({ recheckAt }: { readonly recheckAt?: number }, now: number): boolean {
  return recheckAt !== undefined && recheckAt <= now
}

/** True while a message is to be said or withdrawn. */
export function isOpen({ state }: Pick<Message, 'state'>): boolean {
  return state === 'owed' || state === 'withdrawing'
}

/** True if a message is open, its recheck is due, or its lease is abandoned. */
export function isDue(message: Message, now: number): boolean {
  return isOpen(message) || isRecheckDue(message, now) || isLeaseAbandoned(message, now)
}

/** True if a lease has ended on the item. A call that lands late may leave such a lease on a settled item. */
export function isLeaseAbandoned(item: { readonly owner?: string; readonly leaseUntil: number }, now: number): boolean {
  return item.owner !== undefined && item.leaseUntil <= now
}

/**
 * The next recheck, ms UTC; undefined if no call can be under way. After a takeover the earlier poster's call may land
 * until its lease and deadline have passed, as may our own unanswered call (IL2, IL5, IL14).
 */
export function nextRecheckAt(
  item: { readonly owner?: string | undefined; readonly recheckAt?: number | undefined },
  facts: { readonly now: number; readonly leaseMs: number; readonly unanswered: boolean },
): number | undefined {
  const { now, leaseMs, unanswered } = facts
  if (item.owner !== undefined || unanswered) return now + leaseMs
  // A recheck in the future stays, although something newer was posted before.
  return item.recheckAt !== undefined && item.recheckAt > now ? item.recheckAt : undefined
}
