/** Of runs and threads: who may speak, how a run ends or waits. */
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
      breaks: 'A webhook that came late stops the review of a newer head.',
    },
    {
      name: 'claim: an event of the same second is refused',
      find: 'live.eventAt > run.eventAt',
      replace: 'live.eventAt >= run.eventAt',
      breaks: 'Of two pushes in one second the second may never be reviewed.',
    },
    {
      name: 'claim: repeated, it opens another series',
      find: 'const newSeries = !claimedAlready && (',
      replace: 'const newSeries = (',
      breaks: 'A plan that is tried again begins to count rounds anew.',
    },
    {
      name: 'claim: a new series keeps its rounds',
      find: 'round: newSeries ? 0 : before.round,',
      replace: 'round: before.round,',
      breaks: 'A reopened pull request has used up its rounds.',
    },
    {
      name: 'rounds: of an earlier series counted',
      find: 'message.series !== series || ',
      replace: '',
      breaks: 'A review that is shown late uses a round of the next series.',
    },
    {
      name: 'rounds: counted again each time that they are told',
      find: 'if (message.series !== series || counted.includes(message.name)) return undefined',
      replace: 'if (message.series !== series) return undefined',
      breaks: 'A review that is shown once uses several rounds.',
    },
    {
      name: 'claim: the run before is not ended',
      find: 'ends: live && live.runId !== run.runId ? live.runId : undefined,',
      replace: 'ends: undefined,',
      breaks: 'The review of an older head goes on, and takes places.',
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
      breaks: 'A run begins in a repository that is halted.',
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
      breaks: 'A verdict is given in a repository that is halted.',
    },
    {
      name: 'thread: written over what changed meanwhile',
      find: 'if: { version: before?.version },',
      replace: 'if: { repositoryId: before?.repositoryId },',
      breaks: 'Two runs claim one pull request, or a claim undoes a round.',
    },
    {
      name: 'conclude: written over a run that changed meanwhile',
      find: `        ...due(runKey, now + ledger.timings.recheckMs),
      },
      if: { version: run.version },`,
      replace: `        ...due(runKey, now + ledger.timings.recheckMs),
      },
      if: { runId: run.runId },`,
      breaks: 'A run that is being cancelled concludes all the same.',
    },
    {
      name: 'claim: an older view of the run before ends it',
      find: 'if: { version: ends.version },',
      replace: 'if: { runId: ends.runId },',
      breaks: 'A run that has ended since is made to end again.',
    },
    {
      name: 'rounds: of two that are counted at once one is lost',
      find: `set: { ...rounds, version: thread.version + 1 },
      if: { version: thread.version },`,
      replace: `set: { ...rounds, version: thread.version + 1 },
      if: { repositoryId },`,
      breaks: 'Two reviews that are shown use one round.',
    },
    {
      name: 'conclude: a message that is being withdrawn is owed again',
      find: 'if: { state: message.before },',
      replace: 'if: { githubId: undefined },',
      breaks: 'A review that an earlier attempt may still submit is said a second time.',
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
      breaks: 'What cancels attempt 1 ends attempt 2.',
    },
    {
      name: 'run: ended by an older event',
      find: 'if (current.eventAt > eventAt) return false',
      replace: '',
      breaks: 'A close that is seen late ends the review of the reopened pull request.',
    },
    {
      name: 'run: not ended by an event of the same second',
      find: 'if (current.eventAt > eventAt) return false',
      replace: 'if (current.eventAt >= eventAt) return false',
      breaks: 'A pull request that was opened and closed in one second is reviewed.',
    },
    {
      name: 'run: what was asked again while it ended is forgotten',
      find: 'if (run.askedAgain) {',
      replace: 'if (run.askedAgain && run.attempt < 0) {',
      breaks: 'A push back to a head whose run was ending is never reviewed.',
    },
    {
      name: 'run: an older event takes a run’s time back',
      find: '{ deliveries, eventAt: Math.max(run.eventAt, request.eventAt) }',
      replace: '{ deliveries, eventAt: request.eventAt }',
      breaks: 'A run that joined a later event is overtaken by an earlier one.',
    },
    {
      name: 'run: raised by an older event, it is of that one',
      find: `    eventAt: Math.max(run.eventAt, request.eventAt),
    attempt:`,
      replace: '    attempt:',
      breaks: 'A delivery that comes again has the review of a reopened pull request ended by its closing.',
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
      breaks: 'A run is called reviewed while its check run is in progress.',
    },
    {
      name: 'finish: one whose message failed, with a resource still owed',
      find: 'if (open || !(await',
      replace: 'if (failed ? false : open || !(await',
      breaks: 'Its label stays half changed: two of ours stand on the pull request.',
    },
    {
      name: 'finish: failed by a message of an earlier attempt',
      find: "attempt === run.attempt && state === 'failed'",
      replace: "attempt >= 0 && state === 'failed'",
      breaks: 'A review that is asked for again is called failed although it stands there.',
    },
    {
      name: 'finish: with a message still owed',
      find: 'if (open || !(await resourcesShown(',
      replace: 'if (!(await resourcesShown(',
      breaks: 'A run is called reviewed while its review is not shown.',
    },
    {
      name: 'finish: a resource shown in an older generation',
      find: 'resource.shownGeneration >= resource.generation',
      replace: 'resource.shownGeneration > 0',
      breaks: 'A run is called reviewed while GitHub shows what was before its verdict.',
    },
    {
      name: 'finish: its rounds not counted',
      find: "if (message.state === 'said' && message.round > 0) await countRound",
      replace: "if (message.state === 'owed' && message.round > 0) await countRound",
      breaks: 'A review that was shown uses no round.',
    },
    {
      name: 'finish: who waits is not woken',
      find: 'if (ended) await wakeWaiting(coordinator, run)\n',
      replace: '\n',
      tests: ['test/shared/coordinator/hold.test.ts'],
      breaks: 'An edited description waits until the sweeper looks at it.',
    },
    {
      name: 'finish: its token not answered',
      find: "await answerToken(coordinator.executions, run.token, { outcome: failed ? 'failed' : 'shown' })",
      replace: 'await Promise.resolve(failed)',
      breaks: 'The execution of a run that is shown waits for days.',
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
      name: 'tokens: only the one that came last is answered',
      find: 'return kept.split(SEPARATOR)',
      replace: 'return kept.split(SEPARATOR).slice(-1)',
      breaks: 'The execution of a run that is shown waits for a day, if a call that was taken for failed went on.',
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
      name: 'ending: its places not given up',
      find: '  await grantSlots(deps, reviews.map(slotOf))\n',
      replace: '',
      breaks: 'Places of a cancelled run stay taken until the sweeper compares slots.',
    },
    {
      name: 'ending: reviews of a later attempt among its own',
      find: '.filter(({ attempt }) => attempt === run.attempt)',
      replace: '.filter(({ attempt }) => attempt > 0)',
      breaks: 'The end of attempt 1 takes the places of attempt 2.',
    },
    {
      name: 'ending: the check run of a head that another speaks for',
      find: 'if (isReplaced && thread.head === run.head) return []\n',
      replace: '\n',
      breaks: 'A superseded run overwrites the check run of the one that took its place.',
    },
    {
      name: 'ending: its messages not withdrawn',
      find: 'for (const message of messages) await withdrawMessage(ledger, message, now())\n',
      replace: '\n',
      tests: ['test/functions/post/posting.test.ts'],
      breaks: 'A review of a cancelled run stays owed.',
    },
    {
      name: 'ending: its execution goes on',
      find: 'if (!deps.keepExecution) {',
      replace: 'if (deps.keepExecution) {',
      breaks: 'The execution of a cancelled run goes on.',
    },
    {
      name: 'ending: it takes another run’s label away',
      find: 'if (isReplaced) return [checkRun]\n',
      replace: '\n',
      breaks: 'The label of the run that speaks goes.',
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
      name: 'held: the halt is not read once more',
      find: 'if ((await standingHalt(ledger, run.repository)) === undefined) await wakeRun(ledger, run.runId, now())\n',
      replace: '\n',
      breaks: 'A run that was held while the halt was lifted waits a whole look longer.',
    },
    {
      name: 'held: its places not given up',
      find: 'if (open.length > 0) await grantSlots(coordinator, open.map(slotOf))\n',
      replace: '\n',
      breaks: 'A halted repository keeps places from all others.',
    },
    {
      name: 'held: behind a run that has ended',
      find: 'if (!(await awaitEnd(ledger, awaitedRunId, run.runId))) await wakeRun(ledger, run.runId, now())\n',
      replace: 'await awaitEnd(ledger, awaitedRunId, run.runId)\n',
      breaks: 'A run waits for one that has ended, and nobody wakes it.',
    },
  ],
)

export const runs = [...decided, ...threads, ...runItems, ...finished, ...tokens, ...endings, ...held]
