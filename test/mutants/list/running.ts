/** Of reviews that run: in the ledger, renewed, taken back, told. */
import { mutantsOf } from '../mutant.ts'

const kept = mutantsOf(
  {
    file: 'functions/review/keep-lease.ts',
    tests: ['test/functions/review/keep-lease.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'renewal: a loss ignored',
      find: 'return lose()\n      confirmedUntil',
      replace: 'return\n      confirmedUntil',
      breaks: 'A worker that was replaced works on to its end.',
    },
    {
      name: 'renewal: an error taken for a confirmation',
      find: '// Unknown: the next heartbeat renews again, and the last confirmed end still counts.',
      replace: 'confirmedUntil = startedAt + reviewLeaseMs',
      breaks: 'A worker that can’t reach the ledger works on while its review is given to another.',
    },
    {
      name: 'renewal: counted from its answer',
      find: 'confirmedUntil = startedAt + reviewLeaseMs',
      replace: 'confirmedUntil = now() + reviewLeaseMs',
      breaks: 'A slow answer lets a worker believe in a lease that has ended.',
    },
    {
      name: 'renewal: who slept is not told',
      find: 'if (now() >= confirmedUntil) lose()\n',
      replace: '\n',
      breaks: 'A process that stood still has an effect after its lease’s end.',
    },
    {
      name: 'renewal: the end waited for once',
      find: 'if (leftMs <= 0) lose()\n    else end',
      replace: 'if (leftMs <= 0 || end) lose()\n    else end',
      breaks: 'A renewed lease is given up at its first end.',
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
      breaks: 'A void ticket gives a place to a review that waits at a later epoch.',
    },
    {
      name: 'review: an earlier attempt’s Admit takes over',
      find: "if (current.attempt > wanted.attempt) return { ...current, state: 'ended' }",
      replace: '',
      breaks: 'An Admit that was late by a whole attempt changes the review of the next one.',
    },
    {
      name: 'review: a token written over another one than was read',
      find: 'attempt: current.attempt, token: current.token },',
      replace: 'attempt: current.attempt },',
      breaks:
        'An Admit’s write that arrives once more brings a dead token back, and the task that waits is never answered.',
    },
    {
      name: 'review: a late Admit’s token takes the place of another',
      find: 'const token = withToken(current.token, wanted.token)',
      replace: 'const token = withToken(undefined, wanted.token)',
      breaks: 'A call of Admit that was taken for failed and goes on leaves its execution waiting for hours.',
    },
    {
      name: 'review: an ending reaches a later attempt',
      find: 'if (!current || current.attempt !== review.attempt) return undefined',
      replace: 'if (!current) return undefined',
      breaks: 'What ends attempt 1 ends the reviews of attempt 2.',
    },
    {
      name: 'review: ended at the same epoch',
      find: "set: { state: 'ended', epoch: epoch + 1 },",
      replace: "set: { state: 'ended', epoch },",
      breaks: 'An Admit, a grant and an end of one epoch can’t be told apart.',
    },
    {
      name: 'review: a newer token settled with the old one',
      find: "remove: ['token', 'duePk', 'dueAt'], if: { state, epoch, token }",
      replace: "remove: ['token', 'duePk', 'dueAt'], if: { state, epoch }",
      breaks: 'A task that came while an earlier one was answered waits for ever.',
    },
    {
      name: 'review: the last attempt’s losses count',
      find: "'losses',",
      replace: '',
      breaks: 'A later attempt gives up after fewer losses than it may have.',
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
      breaks: 'A worker whose answer was lost gives up a lease that it holds.',
    },
    {
      name: 'review: a token that came meanwhile not seen',
      find: 'seen = item\n',
      replace: '\n',
      breaks: 'A completion that was refused because of a new token is never done.',
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
      name: 'taken back: its place not released',
      find: 'await grantSlots(coordinator, [slotOf(review)])\n',
      replace: '\n',
      breaks: 'A dead worker’s place stays taken until the sweeper compares slots.',
    },
    {
      name: 'taken back: not queued again',
      find: "if (current.state === 'waiting') await enqueue(coordinator, current)\n  else if",
      replace: 'if',
      breaks: 'A review whose worker died waits without a ticket.',
    },
    {
      name: 'taken back: who waits for a failed one is not told',
      find: 'else if (isDone(current.state)) await tellDone(coordinator, current)\n',
      replace: '\n',
      breaks: 'A task waits for a review that was given up, until the sweeper looks at it.',
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
      name: 'told: the token goes before it is answered',
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
      breaks: 'Who dies in between leaves a task that nobody will answer.',
    },
    {
      name: 'told: one whose token went otherwise stays due',
      find: '  if (token !== undefined) {',
      replace: '  if (token === undefined) return\n  {',
      breaks: 'The sweeper looks at it for ever.',
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
      name: 'ended: its ticket stays',
      find: 'await dropTicket(ledger, ticketOf(review))\n',
      replace: '\n',
      breaks: 'A review that nobody wants gets a place.',
    },
    {
      name: 'ended: who waits is not told',
      find: 'await answerToken(executions, ended.token, { outcome, epoch: review.epoch })\n',
      replace: '\n',
      breaks: 'The execution of a run that is held or ended waits for days.',
    },
  ],
)

export const running = [...kept, ...ledger, ...carried, ...takenBack, ...told, ...ended]
