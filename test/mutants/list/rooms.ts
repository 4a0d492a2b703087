/** Mutants of the rooms that plan, admit and conclude. */
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
      breaks: 'After two pushes in one second the older head can claim after the newer head.',
    },
    {
      name: 'plan: claimed for a head that GitHub does not show',
      find: "if (state === 'moved') return",
      replace: "if (state === 'moved' && now < 0) return",
      breaks: 'An older head is reviewed after a newer head was pushed.',
    },
  ],
)

const admitted = mutantsOf(
  { file: 'functions/admit/core/admission.ts', tests: ['test/functions/admit/core/admission.test.ts'], schedules: [] },
  [
    {
      name: 'admit: admits for a past attempt',
      find: "if (!run || run.attempt !== attempt) return 'ended'",
      replace: "if (!run) return 'ended'",
      breaks: 'A replaced execution takes slots from its successor.',
    },
    {
      name: 'admit: a leased review queued beside its worker',
      find: "review.state === 'leased' ? 'wait' : 'enqueue'",
      replace: "review.state === 'leased' ? 'enqueue' : 'enqueue'",
      breaks: 'A review gets another ticket while a worker reads.',
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
      name: 'conclude: no check of the live run',
      find: "if (thread?.liveRun?.runId !== runId || thread.liveRun.attempt !== attempt) return 'superseded'",
      replace: "if (!thread) return 'superseded'",
      breaks: 'An older head gets a verdict, unless the claim of the newer run has made the older run end.',
    },
    {
      name: 'conclude: an ending run concludes',
      file: 'functions/conclude/core/settled-outcome.ts',
      find: "|| run.state === 'ending') return 'superseded'",
      replace: ") return 'superseded'",
      breaks: 'A cancelled run concludes.',
    },
    {
      name: 'conclude: a repeated call keeps the first token',
      file: 'functions/conclude/store-conclusion.ts',
      find: "return (await updateRun(ledger, run, { token: tokens }, { now: now() })) ? 'owed' : 'again'",
      replace: "return 'owed'",
      breaks: 'The token of a retry is never answered.',
    },
    {
      name: 'conclude: no look whether everything is shown',
      find: '  await finishIfShown(deps, runId)\n',
      replace: '',
      breaks: 'If Post showed everything before the write of the token, only the sweeper answers the token.',
    },
    {
      name: 'conclude: a restated verdict ignores announced findings',
      file: 'functions/conclude/make-conclusion.ts',
      find: '{ announcedIn: owed.key, announced }',
      replace: '{ announcedIn: owed.key, announced: announced && [] }',
      breaks: 'A head that is pushed again gets the comments a second time.',
    },
    {
      name: 'conclude: an unread review counts as a result',
      file: 'functions/conclude/core/conclude.ts',
      find: 'const notAllRead = results.length < parts.length',
      replace: 'const notAllRead = results.length === 0',
      tests: ['test/functions/conclude/core/conclude.test.ts'],
      breaks: 'A lens counts as read although only one of its parts was read.',
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
      name: 'conclude: a withdrawn review counts as posted',
      find: "return announcedBy(announcements, state === 'said')",
      replace: 'return announcedBy(announcements, true)',
      breaks: 'Findings of a review that a push overtook are never posted.',
    },
    {
      name: 'conclude: no wait for a review under withdrawal',
      find: 'if (isOpen && now < plannedAt + WITHDRAWAL_DECIDED_MS) throw beingWithdrawn()\n',
      replace: '\n',
      breaks: 'Findings of a review that lands a moment later are posted twice.',
    },
    {
      name: 'conclude: an endless wait for a review under withdrawal',
      find: 'if (isOpen && now < plannedAt + WITHDRAWAL_DECIDED_MS) throw',
      replace: 'if (isOpen) throw',
      breaks: 'A run ends without a verdict because an earlier run’s review can’t be looked at.',
    },
    {
      name: 'conclude: a failed supplement retried under another key',
      find: "if (last && last.before !== 'said') return",
      replace: 'if (last && last.before === undefined) return',
      breaks: 'A supplement that stands on GitHub after all stands there twice.',
    },
    {
      name: 'conclude: a failed supplement forgotten',
      find: 'new Set([REVIEW_KEY, conclusion.announcedIn ?? REVIEW_KEY])',
      replace: 'new Set([REVIEW_KEY])',
      breaks: 'A retry leaves out the findings of a message that failed.',
    },
    {
      name: 'conclude: a retry without new findings uses no round',
      find: "return message?.state === 'said' && message.round === 0 ?",
      replace: "return message?.state === 'said' && message.round < 0 ?",
      breaks: 'A pull request gets more full reviews than its ceiling.',
    },
    {
      name: 'conclude: a restated verdict’s findings not announced',
      file: 'functions/conclude/core/restated-verdict.ts',
      find: 'return { ...verdict, runId, planKey, kind, round, announcedIn, announcedBefore }',
      replace: 'return { ...verdict, kind, round, announcedIn, announcedBefore }',
      tests: ['test/functions/conclude/core/restated-verdict.test.ts'],
      breaks: 'The next review posts all findings of the restated verdict again.',
    },
    {
      name: 'conclude: a finding without a second look gets a comment',
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
      name: 'plan: GitHub called during its limit',
      find: 'if (closed !== undefined) throw throttledUntil(closed, deps.now())\n',
      replace: '\n',
      breaks: 'Each waiting run calls GitHub every minute, and GitHub answers with longer limits.',
    },
    {
      name: 'plan: a limit of GitHub not recorded',
      file: 'functions/plan/without-plan.ts',
      find: '  await closeBudget(ledger, run.repository.installationId, now() + afterMs)\n',
      replace: '',
      breaks: 'Each waiting run calls GitHub every minute, and GitHub answers with longer limits.',
    },
    {
      name: 'plan: an endless wait for GitHub',
      file: 'functions/plan/core/after-failure.ts',
      find: 'now - Date.parse(startedAt) >= PLAN_PATIENCE_MS',
      replace: 'now < Date.parse(startedAt)',
      breaks: 'A run never ends, and no message reports the outage.',
    },
    {
      name: 'command: a waiting command becomes a dead letter',
      file: 'functions/command/handler.ts',
      find: "if (!isFailure(error, 'retry')) throw error\n",
      replace: 'throw error\n',
      breaks: 'A command is lost in a limit of GitHub that outlasts the tries of its message.',
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
      name: 'admit: waits for the lease of a dead worker',
      find: 'if (lost && isLost(review, lost) &&',
      replace: 'if (lost && !lost && isLost(review, lost) &&',
      breaks: 'A slot idles until the end of a lease although Lambda has named the dead worker.',
    },
    {
      name: 'admit: a refused take-back answers no token',
      find: '(await takeBackEnded(deps, review, lost))) {',
      replace: '((await takeBackEnded(deps, review, lost)) || true)) {',
      breaks: 'A task waits for a review whose lease was taken at that moment, without the task’s token.',
    },
  ],
)

export const rooms = [...claims, ...admitted, ...toldOfCrashes, ...concluded, ...owedReviews, ...waits]
