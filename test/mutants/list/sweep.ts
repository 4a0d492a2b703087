/** Mutants of the sweeper. */
import { mutantsOf } from '../mutant.ts'

const swept = mutantsOf(
  {
    file: 'functions/sweep/core/sweep.ts',
    tests: ['test/functions/sweep/core/sweep.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'sweep: an earlier epoch’s slot is not void',
      find: 'review?.epoch === epoch && (',
      replace: '(review?.epoch ?? 0) >= epoch && review !== undefined && (',
      breaks: 'A slot that was taken back is never granted again.',
    },
    {
      name: 'sweep: a working worker’s slot is void',
      find: " || review.state === 'leased')\n",
      replace: ')\n',
      breaks: 'The slot of a review under a worker is granted to another review.',
    },
    {
      name: 'sweep: an earlier attempt’s reviews wanted',
      find: "run?.attempt === review.attempt && run.state === 'running'",
      replace: "run?.state === 'running'",
      breaks: 'A review without a waiting run takes slots again and again.',
    },
    {
      name: 'sweep: a running run without an execution left alone',
      find: "return execution === 'running' ? { kind: 'look_later' } : { kind: 'fail' }",
      replace: "return execution === 'ended' ? { kind: 'fail' } : { kind: 'look_later' }",
      breaks: 'A run without an execution stays in progress for ever.',
    },
    {
      name: 'sweep: a held run resumed under its halt',
      find: "return mustWait ? { kind: 'look_later' } : { kind: 'resume' }",
      replace: "return { kind: 'resume' }",
      breaks: 'A held run is planned and held again every minute.',
    },
  ],
)

const takenUp = mutantsOf(
  {
    file: 'functions/sweep/review.ts',
    tests: ['test/functions/sweep/take-up.test.ts'],
    schedules: ['test/simulation/schedules/fleet.test.ts', 'test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'sweep: a run that has moved on fails',
      file: 'functions/sweep/run.ts',
      find: 'if (run?.version !== due.version) return false\n',
      replace: 'if (!run) return false\n',
      breaks: 'A run that was held or done just before the end of its execution fails.',
    },
    {
      name: 'sweep: an untold grant left alone',
      file: 'functions/sweep/fleet.ts',
      find: "review?.state === 'waiting' ? [ticketOf(review)] : []",
      replace: "review?.state === 'ended' ? [ticketOf(review)] : []",
      breaks: 'A review keeps a slot without ever being told of the grant.',
    },
    {
      name: 'sweep: void slots kept',
      file: 'functions/sweep/fleet.ts',
      find: 'await grantSlots(deps, voidSlots(fleet.slots, reviews), ungranted)',
      replace: 'await grantSlots(deps, voidSlots({}, reviews), ungranted)',
      breaks: 'The slot of a worker that completed and died stays taken.',
    },
    {
      name: 'sweep: a lost ticket not put again',
      find: 'if (!(await isQueued(ledger, ticketOf(review)))) return enqueue(deps, review)\n',
      replace: '\n',
      breaks: 'A review whose Admit died before the ticket waits for ever.',
    },
    {
      name: 'sweep: a free slot left beside a waiting ticket',
      find: "return tick.once('hand_on', () => grantSlots(deps))",
      replace: 'return',
      breaks: 'A process that frees a slot and dies withholds the slot from a waiting review.',
    },
    {
      name: 'sweep: a done review’s task not told',
      find: 'if (isDone(review.state)) return tellDone(deps, review)',
      replace: 'if (isDone(review.state)) return',
      breaks: 'A worker that completed and died leaves a task that waits for days.',
    },
    {
      name: 'sweep: a concluded run not finished',
      file: 'functions/sweep/run.ts',
      find: 'return !(await finishIfShown(deps, run.runId))',
      replace: 'return true',
      breaks: 'A shown run ends only after Post’s next look.',
    },
  ],
)

const sweptRows = mutantsOf(
  {
    file: 'functions/sweep/take-up.ts',
    tests: ['test/functions/sweep/handler.test.ts', 'test/functions/sweep/take-up.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'sweep: a row moved on only after its action',
      find: `    await postponeDue(ledger, key, item.dueAt, nextDueAt(item, now, recheckMs))
    FAILPOINT: await failpoint('sweep.moved_on')
    await takeUp(deps, item, tick)`,
      replace: `    await takeUp(deps, item, tick)
    FAILPOINT: await failpoint('sweep.moved_on')
    await postponeDue(ledger, key, item.dueAt, nextDueAt(item, now, recheckMs))`,
      breaks: 'A row whose action fails is the first for ever.',
    },
  ],
)

export const sweep = [...swept, ...takenUp, ...sweptRows]
