/** I8, reviews: the fence allows every change of a review. Only the owner renews or completes a review. */
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { isDone, type ReviewItem } from './items.ts'
import type { View } from './view.ts'

type State = ReviewItem['state']

/** Steps at the same epoch. */
const STEPS: readonly (readonly [State, State])[] = [
  ['planned', 'waiting'],
  ['waiting', 'granted'],
  ['granted', 'leased'],
  ['leased', 'completed'],
  ['leased', 'failed'],
]
/**
 * Steps that raise the epoch and so put the owner out: take-back, parking, and giving up after patience. Any review
 * that isn't done may end.
 */
const RAISES: readonly (readonly [State, State])[] = [
  ...(['granted', 'leased'] as const).flatMap((from) =>
    (['waiting', 'planned', 'failed'] as const).map((to) => [from, to] as const),
  ),
  ['waiting', 'failed'],
]

export function fenceInvariant(view: View, judge: Judge): Invariant {
  return {
    watch: {
      review(change) {
        judge.looked()
        const { before, after } = change
        const facts = () => ({ ...change })
        judge.holds(after !== undefined, 'A review was deleted.', facts)
        if (!before) {
          judge.holds(after.state === 'waiting' && after.epoch === 1, 'A review began other than waiting.', facts)
        } else if (after.attempt === before.attempt) {
          withinAttempt(before, after, facts)
          byItsHolder(before, after, facts)
        } else {
          judge.holds(after.attempt > before.attempt, 'A review went back to an earlier attempt.', facts)
          const isRaised = after.epoch === before.epoch + 1 && after.state === 'waiting' && after.owner === undefined
          judge.holds(isRaised, 'A review began another attempt at the same epoch.', facts)
          judge.holds(before.state !== 'completed', 'A completed review was begun anew.', facts)
        }
      },
    },
  }

  function withinAttempt(before: ReviewItem, after: ReviewItem, facts: () => Readonly<Record<string, unknown>>): void {
    const raised = after.epoch - before.epoch
    const isStep = ([from, to]: readonly [State, State]) => from === before.state && to === after.state
    judge.holds(raised === 0 || raised === 1, 'An epoch was lowered, or skipped.', facts)
    if (raised === 1) {
      const isAllowed = RAISES.some(isStep) || (after.state === 'ended' && !isDone(before.state))
      judge.holds(isAllowed, `A review went from ${before.state} to ${after.state} with its epoch.`, facts)
      judge.holds(after.owner === undefined, 'A review was taken back and has its owner still.', facts)
      return
    }
    if (before.state !== after.state) {
      judge.holds(STEPS.some(isStep), `A review went from ${before.state} to ${after.state} at one epoch.`, facts)
    } else if (isDone(after.state)) {
      const isSame = before.result === after.result && before.reason?.code === after.reason?.code
      judge.holds(isSame, 'What a review came to was changed.', facts)
    }
    if (after.state === 'leased') judge.holds(after.owner !== undefined, 'A lease is nobody’s.', facts)
    // The owner stays the same until the epoch is raised.
    if (before.owner !== undefined) judge.holds(after.owner === before.owner, 'A lease went over to another.', facts)
  }

  /**
   * Only the invocation whose request id is the lease's owner takes an owner's step. Another invocation that knows the
   * id doesn't.
   */
  function byItsHolder(before: ReviewItem, after: ReviewItem, facts: () => Readonly<Record<string, unknown>>): void {
    const isSameEpoch = after.epoch === before.epoch
    const isTaken = isSameEpoch && before.state === 'granted' && after.state === 'leased'
    const isRenewed = isSameEpoch && after.state === 'leased' && before.until !== after.until
    const isFinished = isSameEpoch && before.state === 'leased' && isDone(after.state)
    const isGivenBack =
      before.state === 'leased' &&
      (after.state === 'waiting' || after.state === 'planned') &&
      before.losses === after.losses
    if (!isTaken && !isRenewed && !isFinished && !isGivenBack) return
    const holder = isTaken ? after.owner : before.owner
    const invocation = view.invocation()
    judge.holds(invocation === holder, 'A lease was used by another than its holder.', () => ({
      invocation,
      ...facts(),
    }))
  }
}
