/** Of the lease of a review. */
import { mutantsOf } from '../mutant.ts'

export const lease = mutantsOf(
  {
    file: 'shared/fleet/lease.ts',
    tests: ['test/shared/fleet/lease.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'lease: acquired at any epoch',
      find: "if: { state: 'granted', epoch: fence.epoch }",
      replace: "if: { state: 'granted' }",
      breaks: 'A worker of an earlier grant takes the lease of a later one.',
    },
    {
      name: 'lease: acquired though another holds it',
      find: "if: { state: 'granted', epoch: fence.epoch }",
      replace: 'if: { epoch: fence.epoch }',
      breaks: 'Two workers read at once, and the first one’s work is lost.',
    },
    {
      name: 'lease: another’s taken for its own',
      find: "return item.owner === fence.owner ? DONE : { kind: 'refused', code: 'lease_held' }",
      replace: 'return DONE',
      breaks: 'A worker whose write was refused works on under the lease of another.',
    },
    {
      name: 'lease: acquired keeps the token of its grant',
      find: "remove: ['token'],\n    if: { state: 'granted', epoch: fence.epoch },",
      replace: "remove: [],\n    if: { state: 'granted', epoch: fence.epoch },",
      breaks: 'The task of an answered grant is answered again when its review completes.',
    },
    {
      name: 'lease: acquired is looked at no more',
      find: 'recheckAt: until,\n    answerOf(item) {\n      if (item?.epoch !== fence.epoch) return STALE\n      if (item.state ===',
      replace:
        "recheckAt: 'never',\n    answerOf(item) {\n      if (item?.epoch !== fence.epoch) return STALE\n      if (item.state ===",
      breaks: 'The sweeper never finds a lease whose worker died.',
    },
    {
      name: 'lease: renewed without its owner',
      find: "set: { until },\n    remove: [],\n    if: { state: 'leased', ...fenceOf(fence) },",
      replace: "set: { until },\n    remove: [],\n    if: { state: 'leased', epoch: fence.epoch },",
      breaks: 'A worker that never got the lease keeps it alive.',
    },
    {
      name: 'lease: a renewal that did not arrive taken for done',
      find: 'return (item?.until ?? 0) >= until ? DONE : UNKNOWN',
      replace: 'return DONE',
      breaks: 'A worker believes in an end of its lease that the ledger doesn’t have.',
    },
    {
      name: 'lease: completed at any epoch',
      find: "...fenceOf(fence), token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "owner: fence.owner, token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      breaks: 'A worker completes a grant that is not its own any more.',
    },
    {
      name: 'lease: completed by whoever is at its epoch',
      find: "...fenceOf(fence), token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "epoch: fence.epoch, token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      breaks: 'A result is adopted of a worker that never held the lease.',
    },
    {
      name: 'lease: completed over a token that came meanwhile',
      find: "...fenceOf(fence), token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "...fenceOf(fence) },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      breaks: 'An Admit that came again is never answered, and the review is not due any more.',
    },
    {
      name: 'lease: completed is due no more though a token waits',
      find: "...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "recheckAt: 'never',",
      breaks: 'Who completes and dies before it answers leaves a task that waits for ever.',
    },
    {
      name: 'lease: other content taken for the same',
      find: "return outcome.state === 'completed' ? item.result === outcome.result : item.reason?.code === outcome.reason.code",
      replace: 'return true',
      breaks: 'A second, different result of the same worker is called a replay.',
    },
    {
      name: 'lease: released at the same epoch',
      find: 'epoch: fence.epoch + 1, writer: fence.owner',
      replace: 'epoch: fence.epoch, writer: fence.owner',
      breaks: 'A late write of the worker that gave it back still counts.',
    },
    {
      name: 'lease: released without looking for a token',
      find: "state: token === undefined ? 'planned' : 'waiting', epoch: fence.epoch + 1",
      replace: "state: 'planned', epoch: fence.epoch + 1",
      breaks: 'A task waits for a review that nobody queues any more.',
    },
    {
      name: 'lease: taken back at its end, not after it',
      find: '(until ?? 0) < options.now',
      replace: '(until ?? 0) <= options.now',
      breaks: 'A lease is taken in the millisecond up to which it was promised.',
    },
    {
      name: 'lease: taken back though renewed meanwhile',
      find: 'const asRead = { state, epoch, until, token, owner }',
      replace: 'const asRead = { state, epoch, token, owner }',
      breaks: 'A worker that renewed in time loses its lease to who looked before.',
    },
    {
      name: 'lease: taken back at the same epoch',
      find: 'epoch: epoch + 1,\n      losses,',
      replace: 'epoch,\n      losses,',
      breaks: 'The worker that was taken for dead may still complete, beside the one that took its place.',
    },
    {
      name: 'lease: taken back keeps its owner',
      find: "remove: ['owner', 'until'],\n    if: asRead,",
      replace: "remove: ['until'],\n    if: asRead,",
      breaks: 'An item says that it is owned by a worker that was replaced.',
    },
    {
      name: 'lease: of a worker that works taken back as another one died',
      find: 'review.owner !== undefined && lost.cause.includes(review.owner)',
      replace: 'review.owner !== undefined',
      breaks: 'Of two calls of one worker the one that died takes the place of the one that reads.',
    },
    {
      name: 'lease: a crash of an earlier epoch held against a later one',
      find: 'if (review.epoch !== lost.epoch) return false\n',
      replace: '\n',
      breaks: 'One crash costs a review each of its grants.',
    },
    {
      name: 'lease: a grant whose worker crashed is granted again',
      find: "if (review.state === 'granted') return true\n",
      replace: '\n',
      breaks: 'A worker that crashes before it has its lease is called until its execution’s history is full.',
    },
    {
      name: 'control: the same in other words',
      find: 'losses >= REVIEW_LOSSES_MAX',
      replace: '!(losses < REVIEW_LOSSES_MAX)',
      breaks: 'Nothing.',
      survives: 'It is here to show that not everything is called killed.',
    },
    {
      name: 'lease: one loss more than allowed',
      find: 'losses >= REVIEW_LOSSES_MAX',
      replace: 'losses > REVIEW_LOSSES_MAX',
      breaks: 'A review that kills each of its workers is tried once more than it may be.',
    },
    {
      name: 'lease: another’s taking back taken for its own',
      find: 'item?.epoch === epoch + 1 && item.writer === options.writer',
      replace: 'item?.epoch === epoch + 1',
      breaks: 'Two who took back hand on the same place.',
    },
  ],
)
