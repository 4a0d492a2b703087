/** What a poster does next, given what it saw. Pure. */

import { POST_ERRORS_MAX, POST_UNSEEN_MAX } from '../../../shared/base/limits.ts'
import type { Message } from '../../../shared/ledger/message.ts'
import type { ShownResource } from '../../../shared/ledger/resource.ts'
import type { Resource } from '../../../shared/publishing/github-payloads.ts'
import { headVisibility, type PullRequestShown } from '../../../shared/runs/head.ts'
import type { Run } from '../../../shared/runs/run.ts'
import type { Thread } from '../../../shared/runs/thread.ts'

/** Why nothing new may be shown for a run at this moment; undefined if it may. */
export function stopReason(facts: {
  readonly run: Run
  readonly thread: Thread | undefined
  readonly message: Pick<Message, 'state' | 'attempt'>
  readonly halted: boolean
  /** The pull request as GitHub shows it. */
  readonly shown: PullRequestShown
  /** ms UTC */
  readonly now: number
}): 'withdrawing' | 'not_live' | 'halted' | 'not_visible' | 'head_moved' | 'closed' | undefined {
  const { run, thread, message, shown } = facts
  if (message.state === 'withdrawing') return 'withdrawing'
  const live = thread?.liveRun
  if (live?.runId !== run.runId || live.attempt !== message.attempt || run.state !== 'concluded') return 'not_live'
  if (facts.halted) return 'halted'
  const head = headVisibility(shown, run, facts.now)
  if (head === 'not_yet') return 'not_visible'
  if (head !== 'live') return 'head_moved'
  // One that was reopened since is of a later event, which the run has joined.
  return shown.state === 'closed' && shown.updatedAt > run.eventAt ? 'closed' : undefined
}

/** When to look again after an attempt that may have happened or not; `give_up` after too many errors (LE9). */
export function afterUnknown(
  because: { readonly code: string; readonly afterMs: number },
  errors: number,
  now: number,
): { readonly kind: 'postpone'; readonly at: number; readonly error: boolean } | { readonly kind: 'give_up' } {
  // A limit uses time, not attempts, of AWS too, and so does what is too new to be visible, which isn't so for long.
  const error = because.code !== 'github_throttled' && because.code !== 'busy' && because.code !== 'head_not_visible'
  // A read-back that lags is no failed try, so it is looked for some more times, and an error among these doesn't end them;
  // but they don't go on for ever.
  const isLookedFor = because.code === 'not_shown' || errors >= POST_ERRORS_MAX
  const most = isLookedFor ? POST_UNSEEN_MAX : POST_ERRORS_MAX
  if (error && errors + 1 >= most) return { kind: 'give_up' }
  const growing = error ? because.afterMs * 2 ** errors : because.afterMs
  return { kind: 'postpone', at: now + growing, error }
}

/**
 * Whether what `raisedBy` wants shown may be shown now. `later`: its ending, the end of a halt, or a view of GitHub that
 * isn't behind will decide. `void`: never, because it was overtaken, and a verdict for a head that isn't live is not
 * published (PR2, PR5); what such a run leaves behind is its check run, which its ending has completed, and no label.
 */
export function mayShow(facts: {
  readonly desired: Resource
  readonly raisedBy: Run | undefined
  readonly halted: boolean
  /** The pull request as GitHub shows it; needed for a run that has concluded. */
  readonly shown: PullRequestShown | undefined
  /** ms UTC */
  readonly now: number
}): 'show' | 'later' | 'void' | 'head_moved' {
  const { desired, raisedBy, halted, shown } = facts
  if (halted || raisedBy?.state === 'ending') return 'later'
  if (raisedBy?.state === 'concluded') {
    const head = shown ? headVisibility(shown, raisedBy, facts.now) : 'not_yet'
    if (head === 'not_yet') return 'later'
    return head === 'live' ? 'show' : 'head_moved'
  }
  const overtaken = raisedBy === undefined || (raisedBy.state === 'ended' && raisedBy.outcome !== 'reviewed')
  const leftBehind =
    (desired.kind === 'check_run' && desired.status === 'completed') ||
    (desired.kind === 'label' && desired.label === 'none')
  return overtaken && !leftBehind ? 'void' : 'show'
}

/** True if something is still to be shown and its time has come, or if it is to be looked at a second time by now. */
export function isOwed(resource: ShownResource, now: number): boolean {
  const { shownGeneration, generation, tryAt = now } = resource
  return (shownGeneration < generation && tryAt <= now) || isRecheckDue(resource, now)
}

/** True if what was shown, said or withdrawn is to be looked at a second time by now. */
export function isRecheckDue({ recheckAt }: { readonly recheckAt?: number }, now: number): boolean {
  return recheckAt !== undefined && recheckAt <= now
}

/** True if a lease was never given back: it makes the item due, also one on a settled message that was taken by a call that landed late. */
export function isLeaseAbandoned(item: { readonly owner?: string; readonly leaseUntil: number }, now: number): boolean {
  return item.owner !== undefined && item.leaseUntil <= now
}

/**
 * When to look a second time, ms UTC: after a takeover an earlier poster's call may still land until its lease and deadline
 * have passed, and so may a call of our own that wasn't answered (IL2, IL5, IL14). `item` is as it was read before it was
 * leased: an owner that stands there never gave it back. Undefined if nobody can have a call under way.
 */
export function nextRecheckAt(
  item: { readonly owner?: string; readonly recheckAt?: number },
  facts: { readonly now: number; readonly leaseMs: number; readonly unanswered: boolean },
): number | undefined {
  const { now, leaseMs, unanswered } = facts
  if (item.owner !== undefined || unanswered) return now + leaseMs
  // One that is still to come isn't dropped because something newer was shown before it.
  return item.recheckAt !== undefined && item.recheckAt > now ? item.recheckAt : undefined
}
