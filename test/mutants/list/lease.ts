/** Mutants of the lease of a review. */
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
      breaks: 'A worker of an earlier grant takes the lease of a later grant.',
    },
    {
      name: 'lease: acquired though leased',
      find: "if: { state: 'granted', epoch: fence.epoch }",
      replace: 'if: { epoch: fence.epoch }',
      breaks: 'Two workers read at once, and the first worker’s result is lost.',
    },
    {
      name: 'lease: a foreign lease taken for its own',
      find: "return item.owner === fence.owner ? DONE : { kind: 'refused', code: 'lease_held' }",
      replace: 'return DONE',
      breaks: 'A worker whose write was refused works on under another worker’s lease.',
    },
    {
      name: 'lease: acquiring keeps the grant’s token',
      find: "remove: ['token'],\n    if: { state: 'granted', epoch: fence.epoch },",
      replace: "remove: [],\n    if: { state: 'granted', epoch: fence.epoch },",
      breaks: 'The completion of a review answers the task of the already answered grant again.',
    },
    {
      name: 'lease: acquiring ends the due time',
      find: 'recheckAt: until,\n    answerOf(item) {\n      if (item?.epoch !== fence.epoch) return STALE\n      if (item.state ===',
      replace:
        "recheckAt: 'never',\n    answerOf(item) {\n      if (item?.epoch !== fence.epoch) return STALE\n      if (item.state ===",
      breaks: 'The sweeper never finds a lease whose worker died.',
    },
    {
      name: 'lease: renewed without its owner',
      find: "set: { until },\n    remove: [],\n    if: { state: 'leased', ...fenceOf(fence) },",
      replace: "set: { until },\n    remove: [],\n    if: { state: 'leased', epoch: fence.epoch },",
      breaks: 'A worker that never got the lease keeps the lease alive.',
    },
    {
      name: 'lease: an unconfirmed renewal counts as done',
      find: 'return (item?.until ?? 0) >= until ? DONE : UNKNOWN',
      replace: 'return DONE',
      breaks: 'A worker believes in an end of its lease that the ledger doesn’t have.',
    },
    {
      name: 'lease: completed at any epoch',
      find: "...fenceOf(fence), token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "owner: fence.owner, token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      breaks: 'A worker completes a grant that another worker has by now.',
    },
    {
      name: 'lease: completed by any owner of the epoch',
      find: "...fenceOf(fence), token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "epoch: fence.epoch, token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      breaks: 'A run adopts the result of a worker that never held the lease.',
    },
    {
      name: 'lease: completed over a new token',
      find: "...fenceOf(fence), token },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "...fenceOf(fence) },\n    ...(token === undefined ? { recheckAt: 'never' } : {}),",
      breaks: 'A repeated Admit is never answered, and the review is no longer due.',
    },
    {
      name: 'lease: completed with a waiting token, but not due',
      find: "...(token === undefined ? { recheckAt: 'never' } : {}),",
      replace: "recheckAt: 'never',",
      breaks: 'A worker that completes and dies before the answer leaves a task that waits for ever.',
    },
    {
      name: 'lease: different content counts as a replay',
      find: "return outcome.state === 'completed' ? item.result === outcome.result : item.reason?.code === outcome.reason.code",
      replace: 'return true',
      breaks: 'A second, different result of the same worker counts as a replay.',
    },
    {
      name: 'lease: released at the same epoch',
      find: 'epoch: fence.epoch + 1, writer: fence.owner',
      replace: 'epoch: fence.epoch, writer: fence.owner',
      breaks: 'A late write of the worker that released the lease still counts.',
    },
    {
      name: 'lease: released without a look at the token',
      find: "state: token === undefined ? 'planned' : 'waiting', epoch: fence.epoch + 1",
      replace: "state: 'planned', epoch: fence.epoch + 1",
      breaks: 'A task waits for a review that no process queues any more.',
    },
    {
      name: 'lease: taken back at its end, not after its end',
      find: '(until ?? 0) < options.now',
      replace: '(until ?? 0) <= options.now',
      breaks: 'A take-back ends a lease in the last promised millisecond.',
    },
    {
      name: 'lease: taken back after a renewal',
      find: 'const asRead = { state, epoch, until, token, owner }',
      replace: 'const asRead = { state, epoch, token, owner }',
      breaks: 'A worker that renewed in time loses its lease to a process with an older view.',
    },
    {
      name: 'lease: taken back at the same epoch',
      find: 'epoch: epoch + 1,\n      losses,',
      replace: 'epoch,\n      losses,',
      breaks: 'A worker that was declared dead may still complete, beside its successor.',
    },
    {
      name: 'lease: taken back keeps its owner',
      find: "remove: ['owner', 'until'],\n    if: asRead,",
      replace: "remove: ['until'],\n    if: asRead,",
      breaks: 'An item names a replaced worker as its owner.',
    },
    {
      name: 'lease: a live worker’s lease taken back for a dead one',
      find: 'review.owner !== undefined && lost.cause.includes(review.owner)',
      replace: 'review.owner !== undefined',
      breaks: 'Of two calls of one worker, the death of one ends the lease of the call that reads.',
    },
    {
      name: 'lease: an earlier epoch’s crash counts against a later epoch',
      find: 'if (review.epoch !== lost.epoch) return false\n',
      replace: '\n',
      breaks: 'One crash costs a review each of its grants.',
    },
    {
      name: 'lease: a crash before the lease leaves the grant',
      find: "if (review.state === 'granted') return true\n",
      replace: '\n',
      breaks: 'A worker that crashes before its lease is called until the history of its execution is full.',
    },
    {
      name: 'control: equal code in other words',
      find: 'losses >= REVIEW_LOSSES_MAX',
      replace: '!(losses < REVIEW_LOSSES_MAX)',
      breaks: 'Nothing changes.',
      survives: 'The control shows that the judges don’t call every mutant killed.',
    },
    {
      name: 'lease: one loss more than allowed',
      find: 'losses >= REVIEW_LOSSES_MAX',
      replace: 'losses > REVIEW_LOSSES_MAX',
      breaks: 'A review that kills each of its workers gets one try too many.',
    },
    {
      name: 'lease: a foreign take-back taken for its own',
      find: 'item?.epoch === epoch + 1 && item.writer === options.writer',
      replace: 'item?.epoch === epoch + 1',
      breaks: 'Two processes that took a review back both hand over the same slot.',
    },
  ],
)
