/** Of the sweeper. */
import { mutantsOf } from '../mutant.ts'

const swept = mutantsOf(
  {
    file: 'functions/sweep/core/sweep.ts',
    tests: ['test/functions/sweep/core/sweep.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'sweep: a slot of an earlier epoch is not void',
      find: 'review?.epoch === epoch && (',
      replace: '(review?.epoch ?? 0) >= epoch && review !== undefined && (',
      breaks: 'A place that was taken back is never given to another.',
    },
    {
      name: 'sweep: the slot of a worker that works is void',
      find: " || review.state === 'leased')\n",
      replace: ')\n',
      breaks: 'The place of a review that is being read is given to another.',
    },
    {
      name: 'sweep: reviews of an earlier attempt wanted',
      find: "run?.attempt === review.attempt && run.state === 'running'",
      replace: "run?.state === 'running'",
      breaks: 'A review that nobody waits for takes places again and again.',
    },
    {
      name: 'sweep: a running run without an execution left alone',
      find: "return execution === 'running' ? { kind: 'look_later' } : { kind: 'fail' }",
      replace: "return execution === 'ended' ? { kind: 'fail' } : { kind: 'look_later' }",
      breaks: 'A run whose execution is not there stays in progress for ever.',
    },
    {
      name: 'sweep: a held run goes on under its halt',
      find: "return mustWait ? { kind: 'look_later' } : { kind: 'resume' }",
      replace: "return { kind: 'resume' }",
      breaks: 'A held run is planned every minute, and held again.',
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
      name: 'sweep: a run that has moved on is failed',
      file: 'functions/sweep/run.ts',
      find: 'if (run?.version !== due.version) return false\n',
      replace: 'if (!run) return false\n',
      breaks: 'A run that was held or done just before its execution ended is failed.',
    },
    {
      name: 'sweep: a grant that was never told left alone',
      file: 'functions/sweep/fleet.ts',
      find: "review?.state === 'waiting' ? [ticketOf(review)] : []",
      replace: "review?.state === 'ended' ? [ticketOf(review)] : []",
      breaks: 'A review keeps a slot that it was never told of.',
    },
    {
      name: 'sweep: void slots kept',
      file: 'functions/sweep/fleet.ts',
      find: 'await grantSlots(deps, voidSlots(fleet.slots, reviews), ungranted)',
      replace: 'await grantSlots(deps, voidSlots({}, reviews), ungranted)',
      breaks: 'The place of a worker that completed and died stays taken.',
    },
    {
      name: 'sweep: a lost ticket not put again',
      find: 'if (!(await isQueued(ledger, ticketOf(review)))) return enqueue(deps, review)\n',
      replace: '\n',
      breaks: 'A review whose Admit died before its ticket waits for ever.',
    },
    {
      name: 'sweep: a free place left while someone waits',
      find: "return tick.once('hand_on', () => grantSlots(deps))",
      replace: 'return',
      breaks: 'Who left a place free and died keeps it from who waits.',
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
      breaks: 'A run that is shown ends only when post has looked at it once more.',
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
      name: 'sweep: a row moved on only after it was done',
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
