/** Mutants of reviews at work: stored, renewed, taken back, told. */
import { mutantsOf } from '../mutant.ts'

const kept = mutantsOf(
  {
    file: 'functions/review/keep-lease.ts',
    tests: ['test/functions/review/keep-lease.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'renewal: a lost lease ignored',
      find: 'return lose()\n      confirmedUntil',
      replace: 'return\n      confirmedUntil',
      breaks: 'A replaced worker works on to its end.',
    },
    {
      name: 'renewal: an error counts as a confirmation',
      find: '// Unknown: the next heartbeat renews again, and the last confirmed end still counts.',
      replace: 'confirmedUntil = startedAt + reviewLeaseMs',
      breaks: 'A worker without access to the ledger works on while its review is granted to another worker.',
    },
    {
      name: 'renewal: counted from its answer',
      find: 'confirmedUntil = startedAt + reviewLeaseMs',
      replace: 'confirmedUntil = now() + reviewLeaseMs',
      breaks: 'A slow answer lets a worker believe in a lease that has ended.',
    },
    {
      name: 'renewal: a paused worker not stopped',
      find: 'if (now() >= confirmedUntil) lose()\n',
      replace: '\n',
      breaks: 'A process that stood still has an effect after the end of its lease.',
    },
    {
      name: 'renewal: only the first end counts',
      find: 'if (leftMs <= 0) lose()\n    else end',
      replace: 'if (leftMs <= 0 || end) lose()\n    else end',
      breaks: 'A worker gives up a renewed lease at its first end.',
    },
  ],
)

const ledger = mutantsOf(
  {
    file: 'shared/ledger/review.ts',
    tests: ['test/shared/ledger/review.test.ts'],
    schedules: ['test/small-model/fleet.test.ts'],
  },
  [
    {
      name: 'review: granted at any epoch',
      find: "if: { state: 'waiting', epoch: ticket.epoch },",
      replace: "if: { state: 'waiting' },",
      breaks: 'A void ticket gives a slot to a review that waits at a later epoch.',
    },
    {
      name: 'review: an earlier attempt’s Admit takes over',
      find: "if (current.attempt > wanted.attempt) return { ...current, state: 'ended' }",
      replace: '',
      breaks: 'An Admit that is late by a whole attempt changes the review of the next attempt.',
    },
    {
      name: 'review: a token written over an unread token',
      find: 'attempt: current.attempt, token: current.token },',
      replace: 'attempt: current.attempt },',
      breaks: 'A repeated write of Admit restores a dead token, and the waiting task is never answered.',
    },
    {
      name: 'review: a late Admit’s token replaces a newer token',
      find: 'const token = withToken(current.token, wanted.token)',
      replace: 'const token = withToken(undefined, wanted.token)',
      breaks: 'An Admit call that was given up and goes on leaves its execution waiting for hours.',
    },
    {
      name: 'review: an ending reaches a later attempt',
      find: 'if (!current || current.attempt !== review.attempt) return undefined',
      replace: 'if (!current) return undefined',
      breaks: 'The end of attempt 1 ends the reviews of attempt 2.',
    },
    {
      name: 'review: ended at the same epoch',
      find: "set: { state: 'ended', epoch: epoch + 1 },",
      replace: "set: { state: 'ended', epoch },",
      breaks: 'An Admit, a grant and an end of one epoch can’t be told apart.',
    },
    {
      name: 'review: a newer token removed with the old token',
      find: "remove: ['token', 'duePk', 'dueAt'], if: { state, epoch, token }",
      replace: "remove: ['token', 'duePk', 'dueAt'], if: { state, epoch }",
      breaks: 'A task that came during the answer to an earlier task waits for ever.',
    },
    {
      name: 'review: the last attempt’s losses count',
      find: 'remove: OF_REVIEWS_ATTEMPT }',
      replace: "remove: OF_REVIEWS_ATTEMPT.filter((member) => member !== 'losses') }",
      breaks: 'A later attempt gives up after fewer losses than allowed.',
    },
  ],
)

const carried = mutantsOf(
  {
    file: 'shared/ledger/carry-out.ts',
    tests: ['test/shared/ledger/review.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'review: an unanswered write not read back',
      find: 'if (!isUnanswered(error)) throw error',
      replace: 'throw error',
      breaks: 'A worker whose answer was lost gives up its own lease.',
    },
    {
      name: 'review: a new token overlooked',
      find: 'seen = item\n',
      replace: '\n',
      breaks: 'A completion that was refused because of a new token is never repeated.',
    },
  ],
)

const takenBack = mutantsOf(
  {
    file: 'shared/coordinator/take-back.ts',
    tests: ['test/shared/coordinator/grant-slots.test.ts', 'test/functions/sweep/take-up.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts', 'test/small-model/fleet.test.ts'],
  },
  [
    {
      name: 'taken back: the slot not released',
      find: 'await grantSlots(coordinator, [slotOf(review)])\n',
      replace: '\n',
      breaks: 'A dead worker’s slot stays taken until the sweeper compares slots.',
    },
    {
      name: 'taken back: the review not queued again',
      find: "if (current.state === 'waiting') await enqueue(coordinator, current)\n  else if",
      replace: 'if',
      breaks: 'A review whose worker died waits without a ticket.',
    },
    {
      name: 'taken back: a failed review’s task not told',
      find: 'else if (isDone(current.state)) await tellDone(coordinator, current)\n',
      replace: '\n',
      breaks: 'A task waits for a review that was given up, until the sweeper comes.',
    },
  ],
)

const told = mutantsOf(
  {
    file: 'shared/coordinator/end-review.ts',
    tests: ['test/shared/coordinator/end-review.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts', 'test/small-model/fleet.test.ts'],
  },
  [
    {
      name: 'told: the token removed before its answer',
      find: `  if (token !== undefined) {
    await answerToken(coordinator.executions, token, { outcome: state, epoch })
    FAILPOINT: await failpoint('tell_done.answered')
  }
  await settleDone(coordinator.ledger, review)`,
      replace: `  await settleDone(coordinator.ledger, review)
  if (token !== undefined) {
    FAILPOINT: await failpoint('tell_done.answered')
    await answerToken(coordinator.executions, token, { outcome: state, epoch })
  }`,
      breaks: 'A process that dies in between leaves a task that never gets an answer.',
    },
    {
      name: 'told: a review without its token stays due',
      find: '  if (token !== undefined) {',
      replace: '  if (token === undefined) return\n  {',
      breaks: 'The sweeper looks at the review for ever.',
    },
  ],
)

const ended = mutantsOf(
  {
    file: 'shared/coordinator/end-review.ts',
    tests: ['test/shared/coordinator/ending.test.ts', 'test/shared/coordinator/hold.test.ts'],
    schedules: ['test/simulation/schedules/ending.test.ts'],
  },
  [
    {
      name: 'ended: the ticket stays',
      find: 'await dropTicket(ledger, ticketOf(review))\n',
      replace: '\n',
      breaks: 'An unwanted review gets a slot.',
    },
    {
      name: 'ended: the waiting task not told',
      find: 'await answerToken(executions, ended.token, { outcome, epoch: review.epoch })\n',
      replace: '\n',
      breaks: 'The execution of a held or ended run waits for days.',
    },
  ],
)

export const running = [...kept, ...ledger, ...carried, ...takenBack, ...told, ...ended]
