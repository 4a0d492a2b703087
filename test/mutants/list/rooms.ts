/** Of the rooms that plan, admit and conclude. */
import { mutantsOf } from '../mutant.ts'

const claims = mutantsOf(
  {
    file: 'functions/plan/claim-pull-request.ts',
    tests: ['test/functions/plan/claim-pull-request.test.ts'],
    schedules: ['test/simulation/schedules/claims.test.ts'],
  },
  [
    {
      name: 'plan: GitHub read before the thread',
      find: `    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    // Another call of Plan was faster: Step Functions may take a call for failed while it still runs.
    if (current.state === 'held') return { kind: 'held' }
    if (current.plan !== undefined) return { kind: 'planned', run: current, plan: current.plan }
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')

    const pullRequest = await github.pullRequest(run.repository, run.number)
`,
      replace: `    const pullRequest = await github.pullRequest(run.repository, run.number)
    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    // Another call of Plan was faster: Step Functions may take a call for failed while it still runs.
    if (current.state === 'held') return { kind: 'held' }
    if (current.plan !== undefined) return { kind: 'planned', run: current, plan: current.plan }
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')
`,
      breaks: 'Of two pushes in one second the older head can claim after the newer one did.',
    },
    {
      name: 'plan: claimed for a head that GitHub does not show',
      find: "if (state === 'moved') return",
      replace: "if (state === 'moved' && now < 0) return",
      breaks: 'An older head is reviewed after a newer one was pushed.',
    },
  ],
)

const admitted = mutantsOf(
  { file: 'functions/admit/core/admission.ts', tests: ['test/functions/admit/core/admission.test.ts'], schedules: [] },
  [
    {
      name: 'admit: for an attempt that is over',
      find: "if (!run || run.attempt !== attempt) return 'ended'",
      replace: "if (!run) return 'ended'",
      breaks: 'An execution that was replaced takes places from its successor.',
    },
    {
      name: 'admit: a leased review queued beside its worker',
      find: "review.state === 'leased' ? 'wait' : 'enqueue'",
      replace: "review.state === 'leased' ? 'enqueue' : 'enqueue'",
      breaks: 'A review that is being read gets another ticket.',
    },
  ],
)

const concluded = mutantsOf(
  {
    file: 'functions/conclude/handler.ts',
    tests: ['test/functions/conclude/room.test.ts'],
    schedules: [
      'test/simulation/schedules/posting.test.ts',
      'test/simulation/schedules/ending.test.ts',
      'test/simulation/schedules/claims.test.ts',
    ],
  },
  [
    {
      name: 'conclude: not asked who speaks now',
      find: "if (thread?.liveRun?.runId !== runId || thread.liveRun.attempt !== attempt) return 'superseded'",
      replace: "if (!thread) return 'superseded'",
      breaks:
        'Nothing where the claim of a newer run has made this one end; a verdict for an older head where it has not.',
    },
    {
      name: 'conclude: a run that is ending concludes',
      file: 'functions/conclude/core/settled-outcome.ts',
      find: "|| run.state === 'ending') return 'superseded'",
      replace: ") return 'superseded'",
      breaks: 'A cancelled run speaks.',
    },
    {
      name: 'conclude: called again, it keeps the first token',
      file: 'functions/conclude/store-conclusion.ts',
      find: "return (await updateRun(ledger, run, { token: tokens }, { now: now() })) ? 'owed' : 'again'",
      replace: "return 'owed'",
      breaks: 'The token of a retry is never answered.',
    },
    {
      name: 'conclude: does not look whether all is shown',
      find: '  await finishIfShown(deps, runId)\n',
      replace: '',
      breaks: 'Post showed everything before this token was written: it is answered only by the sweeper.',
    },
    {
      name: 'conclude: shown again, it says what another head’s review has said',
      file: 'functions/conclude/make-conclusion.ts',
      find: '{ announcedIn: owed.key, announced }',
      replace: '{ announcedIn: owed.key, announced: announced && [] }',
      breaks: 'A head that is pushed back gets the comments a second time.',
    },
    {
      name: 'conclude: a review that was not read counts as a result',
      file: 'functions/conclude/core/conclude.ts',
      find: 'const notAllRead = results.length < parts.length',
      replace: 'const notAllRead = results.length === 0',
      tests: ['test/functions/conclude/core/conclude.test.ts'],
      breaks: 'A lens that read one of its parts is called read.',
    },
  ],
)

const owedReviews = mutantsOf(
  {
    file: 'functions/conclude/next-review.ts',
    tests: ['test/functions/conclude/next-review.test.ts'],
    schedules: ['test/simulation/schedules/posting.test.ts'],
  },
  [
    {
      name: 'conclude: a withdrawn review counts as said',
      find: "return announcedBy(announcements, state === 'said')",
      replace: 'return announcedBy(announcements, true)',
      breaks: 'What a review found that a push overtook is never said.',
    },
    {
      name: 'conclude: a review that is being withdrawn not waited for',
      find: 'if (isOpen && now < plannedAt + WITHDRAWAL_DECIDED_MS) throw beingWithdrawn()\n',
      replace: '\n',
      breaks: 'What a review says that lands a moment later is said twice.',
    },
    {
      name: 'conclude: a review that is being withdrawn waited for without end',
      find: 'if (isOpen && now < plannedAt + WITHDRAWAL_DECIDED_MS) throw',
      replace: 'if (isOpen) throw',
      breaks: 'A run ends without a verdict because an earlier run’s review can’t be looked at.',
    },
    {
      name: 'conclude: a further review that failed is tried under another key',
      find: "if (last && last.before !== 'said') return",
      replace: 'if (last && last.before === undefined) return',
      breaks: 'One that stands on GitHub after all stands there twice.',
    },
    {
      name: 'conclude: a further review that failed is forgotten',
      find: 'new Set([REVIEW_KEY, conclusion.announcedIn ?? REVIEW_KEY])',
      replace: 'new Set([REVIEW_KEY])',
      breaks: 'A retry says nothing of what failed to be said.',
    },
    {
      name: 'conclude: a retry that has nothing to add uses no round',
      find: "return message?.state === 'said' && message.round === 0 ?",
      replace: "return message?.state === 'said' && message.round < 0 ?",
      breaks: 'A pull request gets more full reviews than its ceiling.',
    },
    {
      name: 'conclude: what is shown again is not remembered as said',
      file: 'functions/conclude/core/restated-verdict.ts',
      find: 'return { ...verdict, runId, planKey, kind, round, announcedIn, announcedBefore }',
      replace: 'return { ...verdict, kind, round, announcedIn, announcedBefore }',
      tests: ['test/functions/conclude/core/restated-verdict.test.ts'],
      breaks: 'The next review says all of it once more.',
    },
    {
      name: 'conclude: what nobody looked at again gets a comment',
      file: 'shared/verdict/announced-findings.ts',
      find: ' && !unseen.has(fingerprint)',
      replace: '',
      tests: ['test/shared/verdict/announced-findings.test.ts'],
      breaks: 'A comment stands on a line that has moved.',
    },
  ],
)

const waits = mutantsOf(
  { file: 'functions/plan/plan-run.ts', tests: [], schedules: ['test/simulation/schedules/limits.test.ts'] },
  [
    {
      name: 'plan: GitHub is called into its limit',
      find: 'if (closed !== undefined) throw throttledUntil(closed, deps.now())\n',
      replace: '\n',
      breaks: 'Each waiting run asks GitHub every minute, which GitHub answers by longer limits.',
    },
    {
      name: 'plan: a limit of GitHub is told to nobody',
      file: 'functions/plan/without-plan.ts',
      find: '  await closeBudget(ledger, run.repository.installationId, now() + afterMs)\n',
      replace: '',
      breaks: 'Each waiting run asks GitHub every minute, which GitHub answers by longer limits.',
    },
    {
      name: 'plan: an outage of GitHub is waited for without end',
      file: 'functions/plan/core/after-failure.ts',
      find: 'now - Date.parse(startedAt) >= PLAN_PATIENCE_MS',
      replace: 'now < Date.parse(startedAt)',
      breaks: 'A run never ends, and nobody hears of it.',
    },
    {
      name: 'command: what must wait becomes a dead letter',
      file: 'functions/command/handler.ts',
      find: "if (!isFailure(error, 'retry')) throw error\n",
      replace: 'throw error\n',
      breaks: 'A command is lost in a limit of GitHub that lasts longer than the tries of its message.',
    },
  ],
)

const toldOfCrashes = mutantsOf(
  {
    file: 'functions/admit/admit-review.ts',
    tests: ['test/functions/admit/room.test.ts'],
    schedules: ['test/simulation/schedules/leases.test.ts'],
  },
  [
    {
      name: 'admit: the lease of a dead worker waited for',
      find: 'if (lost && isLost(review, lost) &&',
      replace: 'if (lost && !lost && isLost(review, lost) &&',
      breaks: 'A place stands idle until the lease of a worker has ended that everybody knows is dead.',
    },
    {
      name: 'admit: nobody told where the taking back was refused',
      find: '(await takeBackEnded(deps, review, lost))) {',
      replace: '((await takeBackEnded(deps, review, lost)) || true)) {',
      breaks: 'A task waits for a review whose lease was taken at that moment, and dropped its token.',
    },
  ],
)

export const rooms = [...claims, ...admitted, ...toldOfCrashes, ...concluded, ...owedReviews, ...waits]
