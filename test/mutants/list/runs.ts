/** Mutants of runs and threads: the live run, and how a run ends or waits. */
import { mutantsOf } from '../mutant.ts'

const decided = mutantsOf(
  {
    file: 'shared/runs/thread.ts',
    tests: ['test/shared/runs/thread.test.ts'],
    schedules: ['test/simulation/schedules/claims.test.ts'],
  },
  [
    {
      name: 'claim: an older event takes over',
      find: 'live.runId !== run.runId && live.eventAt > run.eventAt',
      replace: 'live.runId !== run.runId && live.eventAt > run.eventAt + Infinity',
      breaks: 'A late webhook stops the review of a newer head.',
    },
    {
      name: 'claim: an event of the same second refused',
      find: 'live.eventAt > run.eventAt',
      replace: 'live.eventAt >= run.eventAt',
      breaks: 'After two pushes in one second the second head may never be reviewed.',
    },
    {
      name: 'claim: a repeated claim opens another series',
      find: 'const newSeries = !claimedAlready && (',
      replace: 'const newSeries = (',
      breaks: 'A repeated Plan counts rounds from the beginning.',
    },
    {
      name: 'claim: a new series keeps the rounds',
      find: 'round: newSeries ? 0 : before.round,',
      replace: 'round: before.round,',
      breaks: 'A reopened pull request has no rounds left.',
    },
    {
      name: 'rounds: an earlier series counts',
      find: 'message.series !== series || ',
      replace: '',
      breaks: 'A review that is shown late uses a round of the next series.',
    },
    {
      name: 'rounds: one message counts repeatedly',
      find: 'if (message.series !== series || counted.includes(message.name)) return undefined',
      replace: 'if (message.series !== series) return undefined',
      breaks: 'A review that is shown once uses several rounds.',
    },
    {
      name: 'claim: the earlier run not ended',
      find: 'ends: live && live.runId !== run.runId ? live.runId : undefined,',
      replace: 'ends: undefined,',
      breaks: 'The review of an older head goes on, and takes slots.',
    },
  ],
)

const threads = mutantsOf(
  {
    file: 'shared/ledger/thread.ts',
    tests: ['test/shared/ledger/thread.test.ts'],
    schedules: ['test/simulation/schedules/claims.test.ts', 'test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'claim: written under a halt',
      find: `    noHaltInTransaction(ledger, run.repository),
    threadWrite(ledger, thread, next),
    changeInTransaction(ledger, runKey, {
      set: { state: 'running'`,
      replace: `    noHaltInTransaction(ledger, { id: 0, installationId: 0 }),
    threadWrite(ledger, thread, next),
    changeInTransaction(ledger, runKey, {
      set: { state: 'running'`,
      breaks: 'A run begins in a halted repository.',
    },
    {
      name: 'conclude: written under a halt',
      find: `    noHaltInTransaction(ledger, run.repository),
    threadWrite(ledger, thread, next),
    changeInTransaction(ledger, runKey, {
      set: {
        state: 'concluded'`,
      replace: `    noHaltInTransaction(ledger, { id: 0, installationId: 0 }),
    threadWrite(ledger, thread, next),
    changeInTransaction(ledger, runKey, {
      set: {
        state: 'concluded'`,
      breaks: 'A halted repository gets a verdict.',
    },
    {
      name: 'thread: written over a concurrent change',
      find: 'if: { version: before?.version },',
      replace: 'if: { repositoryId: before?.repositoryId },',
      breaks: 'Two runs claim one pull request, or a claim undoes a round.',
    },
    {
      name: 'conclude: written over a concurrent change of the run',
      find: `        ...due(runKey, now + ledger.timings.recheckMs),
      },
      if: { version: run.version },`,
      replace: `        ...due(runKey, now + ledger.timings.recheckMs),
      },
      if: { runId: run.runId },`,
      breaks: 'A run under cancellation concludes all the same.',
    },
    {
      name: 'claim: an outdated view ends the earlier run',
      find: 'if: { version: ends.version },',
      replace: 'if: { runId: ends.runId },',
      breaks: 'A run that has ended since must end again.',
    },
    {
      name: 'rounds: concurrent counts lose a round',
      find: `set: { ...rounds, version: thread.version + 1 },
      if: { version: thread.version },`,
      replace: `set: { ...rounds, version: thread.version + 1 },
      if: { repositoryId },`,
      breaks: 'Two shown reviews use one round.',
    },
    {
      name: 'conclude: a message under withdrawal owed again',
      find: 'if: { state: message.before },',
      replace: 'if: { githubId: undefined },',
      breaks: 'A review that an earlier attempt may still submit is posted a second time.',
    },
  ],
)

const runItems = mutantsOf(
  {
    file: 'shared/ledger/run.ts',
    tests: ['test/shared/ledger/run.test.ts'],
    schedules: ['test/simulation/schedules/ending.test.ts', 'test/simulation/schedules/claims.test.ts'],
  },
  [
    {
      name: 'run: an ending reaches a later attempt',
      find: 'if (!current || current.attempt !== run.attempt || current.state ===',
      replace: 'if (!current || current.state ===',
      breaks: 'The cancellation of attempt 1 ends attempt 2.',
    },
    {
      name: 'run: ended by an older event',
      find: 'if (current.eventAt > eventAt) return false',
      replace: '',
      breaks: 'A late closing ends the review of the reopened pull request.',
    },
    {
      name: 'run: not ended by an event of the same second',
      find: 'if (current.eventAt > eventAt) return false',
      replace: 'if (current.eventAt >= eventAt) return false',
      breaks: 'A pull request that was opened and closed in one second is reviewed.',
    },
    {
      name: 'run: a request during the ending forgotten',
      find: 'if (run.askedAgain) {',
      replace: 'if (run.askedAgain && run.attempt < 0) {',
      breaks: 'No run reviews a head that is pushed again while its run ends.',
    },
    {
      name: 'run: an older event moves the run’s event back',
      find: '{ deliveries, eventAt: Math.max(run.eventAt, request.eventAt) }',
      replace: '{ deliveries, eventAt: request.eventAt }',
      breaks: 'An earlier event overtakes a run that joined a later event.',
    },
  ],
)

const nextAttempts = mutantsOf(
  {
    file: 'shared/runs/run.ts',
    tests: ['test/shared/ledger/run.test.ts'],
    schedules: ['test/simulation/schedules/ending.test.ts', 'test/simulation/schedules/claims.test.ts'],
  },
  [
    {
      name: 'run: an older event’s raise moves the run’s event back',
      find: `    eventAt: Math.max(run.eventAt, request.eventAt),
    attempt:`,
      replace: '    attempt:',
      breaks: 'After a repeated delivery, a closing ends the review of a reopened pull request.',
    },
  ],
)

const finished = mutantsOf(
  {
    file: 'shared/coordinator/finish.ts',
    tests: ['test/shared/coordinator/finish.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'finish: with a resource still owed',
      find: 'if (open || !(await resourcesShown(coordinator, pullRequest, run.head))) return false',
      replace: 'if (open) return false',
      breaks: 'A run ends as reviewed while its check run is in progress.',
    },
    {
      name: 'finish: a failed message, with a resource still owed',
      find: 'if (open || !(await',
      replace: 'if (failed ? false : open || !(await',
      breaks: 'The label stays half changed: two of Muster’s labels stand on the pull request.',
    },
    {
      name: 'finish: failed by an earlier attempt’s message',
      find: "attempt === run.attempt && state === 'failed'",
      replace: "attempt >= 0 && state === 'failed'",
      breaks: 'A retried run ends as failed although its review stands on GitHub.',
    },
    {
      name: 'finish: with a message still owed',
      find: 'if (open || !(await resourcesShown(',
      replace: 'if (!(await resourcesShown(',
      breaks: 'A run ends as reviewed while its review is not shown.',
    },
    {
      name: 'finish: a resource shown in an older generation',
      find: 'resource.shownGeneration >= resource.generation',
      replace: 'resource.shownGeneration > 0',
      breaks: 'A run ends as reviewed while GitHub shows the state before its verdict.',
    },
    {
      name: 'finish: the rounds not counted',
      find: "if (message.state === 'said' && message.round > 0) await countRound",
      replace: "if (message.state === 'owed' && message.round > 0) await countRound",
      breaks: 'A shown review uses no round.',
    },
    {
      name: 'finish: waiting runs not woken',
      find: 'if (ended) await wakeWaiting(coordinator, run)\n',
      replace: '\n',
      tests: ['test/shared/coordinator/hold.test.ts'],
      breaks: 'The run of an edited description waits until the sweeper comes.',
    },
    {
      name: 'finish: the token not answered',
      find: "await answerToken(coordinator.executions, run.token, { outcome: failed ? 'failed' : 'shown' })",
      replace: 'await Promise.resolve(failed)',
      breaks: 'The execution of a shown run waits for days.',
    },
  ],
)

const tokens = mutantsOf(
  {
    file: 'shared/runs/task-tokens.ts',
    tests: ['test/shared/runs/task-tokens.test.ts', 'test/shared/coordinator/finish.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'tokens: only the newest token answered',
      find: 'return kept.split(SEPARATOR)',
      replace: 'return kept.split(SEPARATOR).slice(-1)',
      breaks: 'If a call that was given up went on, the execution of a shown run waits for a day.',
    },
  ],
)

const endings = mutantsOf(
  {
    file: 'shared/coordinator/ending.ts',
    tests: ['test/shared/coordinator/ending.test.ts'],
    schedules: ['test/simulation/schedules/ending.test.ts', 'test/simulation/schedules/claims.test.ts'],
  },
  [
    {
      name: 'ending: the slots not released',
      find: '  await grantSlots(deps, reviews.map(slotOf))\n',
      replace: '',
      breaks: 'Slots of a cancelled run stay taken until the sweeper compares slots.',
    },
    {
      name: 'ending: reviews of a later attempt included',
      find: '.filter(({ attempt }) => attempt === run.attempt)',
      replace: '.filter(({ attempt }) => attempt > 0)',
      breaks: 'The end of attempt 1 takes the slots of attempt 2.',
    },
    {
      name: 'ending: overwrites the live run’s check run',
      find: 'if (isReplaced && thread.head === run.head) return []\n',
      replace: '\n',
      breaks: 'A superseded run overwrites the check run of its successor.',
    },
    {
      name: 'ending: the messages not withdrawn',
      find: 'for (const message of messages) await withdrawMessage(ledger, message, now())\n',
      replace: '\n',
      tests: ['test/functions/post/posting.test.ts'],
      breaks: 'A review of a cancelled run stays owed.',
    },
    {
      name: 'ending: the execution not stopped',
      find: 'if (!deps.keepExecution) {',
      replace: 'if (deps.keepExecution) {',
      breaks: 'The execution of a cancelled run goes on.',
    },
    {
      name: 'ending: removes another run’s label',
      find: 'if (isReplaced) return [checkRun]\n',
      replace: '\n',
      breaks: 'The label of the live run disappears.',
    },
  ],
)

const held = mutantsOf(
  {
    file: 'shared/coordinator/hold.ts',
    tests: ['test/shared/coordinator/hold.test.ts'],
    schedules: ['test/simulation/schedules/ending.test.ts'],
  },
  [
    {
      name: 'held: the halt not read again',
      find: 'if ((await standingHalt(ledger, run.repository)) === undefined) await wakeRun(ledger, run.runId, now())\n',
      replace: '\n',
      breaks: 'A run that was held while the halt was lifted waits one look longer.',
    },
    {
      name: 'held: the slots not released',
      find: 'if (open.length > 0) await grantSlots(coordinator, open.map(slotOf))\n',
      replace: '\n',
      breaks: 'A halted repository withholds slots from all other repositories.',
    },
    {
      name: 'held: behind an ended run',
      find: 'if (!(await awaitEnd(ledger, awaitedRunId, run.runId))) await wakeRun(ledger, run.runId, now())\n',
      replace: 'await awaitEnd(ledger, awaitedRunId, run.runId)\n',
      breaks: 'A run waits for a run that has ended, and no process wakes the waiting run.',
    },
  ],
)

export const runs = [...decided, ...threads, ...runItems, ...nextAttempts, ...finished, ...tokens, ...endings, ...held]
