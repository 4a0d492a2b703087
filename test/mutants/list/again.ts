/** Of runs that are asked for again, and of cancelling what was asked for. */
import { type Mutant, mutantsOf } from '../mutant.ts'

/** A delivery joins a run while that is ended for what GitHub showed before. */
const joined = {
  tests: ['test/shared/ledger/run.test.ts', 'test/shared/ledger/thread.test.ts'],
  schedules: ['test/simulation/schedules/joined.test.ts'],
} as const

const joinedMeanwhile = [
  ...mutantsOf({ file: 'shared/ledger/run.ts', ...joined }, [
    {
      name: 'joined: what came after GitHub was asked ends with its run',
      find: ' || current.eventAt > asOf',
      replace: '',
      breaks: 'A head that is pushed back to while its run is being superseded is never reviewed.',
    },
  ]),
  ...mutantsOf({ file: 'functions/plan/without-plan.ts', ...joined }, [
    {
      name: 'joined: plan ends whatever has come since it asked GitHub',
      find: 'asOf: run.eventAt, ',
      replace: '',
      breaks: 'A pull request that is reopened while it is seen closed is never reviewed.',
    },
  ]),
  ...mutantsOf({ file: 'functions/post/messages.ts', ...joined }, [
    {
      name: 'joined: post ends whatever has come since it asked GitHub',
      find: 'asOf: run.eventAt, ',
      replace: '',
      breaks: 'A head that is pushed back to before its review is said is never reviewed.',
    },
  ]),
  ...mutantsOf({ file: 'shared/ledger/thread.ts', ...joined }, [
    {
      name: 'joined: a claim ends a later event than its own',
      find: 'ends.eventAt > run.eventAt ? requestAgain(ends) : undefined',
      replace: 'undefined',
      breaks:
        'A head that was pushed back to waits for the review of the one that GitHub showed before, or is lost with it.',
    },
  ]),
]

const edited = mutantsOf(
  {
    file: 'shared/runs/thread.ts',
    tests: ['test/shared/runs/thread.test.ts'],
    schedules: ['test/simulation/schedules/edited.test.ts'],
  },
  [
    {
      name: 'edited: the text of a head overtakes its review',
      find: 'if (isLater && !overtakesTextRun) return',
      replace: 'if (isLater) return',
      breaks: 'A pull request whose description is edited before its opening is heard of is never read by models.',
    },
    {
      name: 'edited: a review that was asked for later is overtaken',
      find: "isLater && live.kind === 'analyzers' && run",
      replace: 'isLater && run',
      breaks: 'A late delivery ends the review that a person has asked for since.',
    },
    {
      name: 'edited: an earlier head is reviewed in place of the one that was edited',
      find: " && run.kind === 'full' && isOfHead(thread, run)",
      replace: " && run.kind === 'full'",
      breaks: 'A webhook that came late stops the review of a newer head.',
    },
    {
      name: 'edited: that its head still stood is forgotten',
      find: 'overtakesTextRun || live?.runId === run.runId ? live.eventAt : 0',
      replace: '0',
      breaks: 'A closing before the edit ends the review of a pull request that was reopened.',
    },
  ],
)

/** A closing is told of late. */
const closed = [
  ...mutantsOf(
    {
      file: 'functions/command/core/closing.ts',
      tests: ['test/functions/command/core/closing.test.ts'],
      schedules: ['test/simulation/schedules/closing.test.ts'],
    },
    [
      {
        name: 'closing: it ends what GitHub showed open since',
        find: 'Math.max(live.eventAt, openAt) > eventAt',
        replace: 'live.eventAt > eventAt',
        breaks:
          'A review that a person asks for after a reopening that was not heard of is ended by the closing before.',
      },
      {
        name: 'closing: of the second in which it was seen open',
        find: 'asksAgain: openAt === eventAt',
        replace: 'asksAgain: false',
        breaks:
          'A pull request that is reopened in the second of its closing, by a webhook that is lost, is not reviewed.',
      },
    ],
  ),
  ...mutantsOf(
    {
      file: 'functions/plan/claim-pull-request.ts',
      tests: ['test/functions/plan/claim-pull-request.test.ts'],
      schedules: ['test/simulation/schedules/closing.test.ts'],
    },
    [
      {
        name: 'plan: a late call claims what another has planned',
        find: 'if (current.plan !== undefined) return',
        replace: 'if (current.plan === "") return',
        breaks: 'A run that has concluded runs again.',
      },
      {
        name: 'closing: that GitHub showed it open is not kept',
        find: 'seenOpen(decision.thread, pullRequest.updatedAt)',
        replace: 'seenOpen(decision.thread, 0)',
        breaks:
          'A review that a person asks for after a reopening that was not heard of is ended by the closing before.',
      },
    ],
  ),
  ...mutantsOf(
    {
      file: 'shared/runs/thread.ts',
      tests: ['test/shared/runs/thread.test.ts'],
      schedules: ['test/simulation/schedules/closing.test.ts'],
    },
    [
      {
        name: 'closing: a view that is behind takes back that it was seen open',
        find: 'Math.max(liveRun.openAt ?? 0, openAt)',
        replace: 'openAt',
        breaks: 'A closing of before ends the review, though GitHub had shown the pull request open since.',
      },
    ],
  ),
]

export const again: readonly Mutant[] = [
  ...joinedMeanwhile,
  ...closed,
  ...edited,
  ...mutantsOf(
    {
      file: 'shared/ledger/run-again.ts',
      tests: ['test/shared/coordinator/hold.test.ts'],
      schedules: ['test/simulation/schedules/claims.test.ts'],
    },
    [
      {
        name: 'again: as of its old event',
        find: 'const eventAt = Math.max(run.eventAt, asking.eventAt)',
        replace: 'const eventAt = run.eventAt',
        breaks:
          'A head that was pushed back to, by a webhook that was lost, is superseded each time that it is asked for.',
      },
      {
        name: 'again: one that has not begun is left to be superseded',
        find: 'isLive(run.state) ? run.eventAt >= after :',
        replace: 'isLive(run.state) ? true :',
        breaks: 'A head that was pushed back to before its run began is never reviewed if that webhook was lost.',
      },
      {
        name: 'again: one that was closed stays closed',
        find: "['superseded', 'closed']",
        replace: "['superseded']",
        breaks: 'A head that is pushed back to after a reopening that was not heard of is never reviewed.',
      },
    ],
  ),
  ...mutantsOf(
    {
      file: 'shared/coordinator/cancel.ts',
      tests: ['test/functions/api/runs.test.ts'],
      schedules: ['test/simulation/schedules/ending.test.ts'],
    },
    [
      {
        name: 'cancel: what is cancelled while it ends keeps its outcome',
        find: 'updateRun(ledger, run, cancellation, {',
        replace: 'updateRun(ledger, run, {}, {',
        breaks: 'A reopened pull request whose review was cancelled says that it was closed, and by nobody.',
      },
      {
        name: 'cancel: what was to follow is begun',
        find: "{ now: now(), remove: ['askedAgain'] }",
        replace: '{ now: now() }',
        breaks: 'A cancelled run begins its next attempt.',
      },
    ],
  ),
  ...mutantsOf(
    {
      file: 'functions/command/core/command.ts',
      tests: ['test/functions/command/core/command.test.ts'],
      schedules: [],
    },
    [
      {
        name: 'retry: the run of the head goes before the one that spoke last',
        find: '(a, b) => rank(b) - rank(a) || b.acceptedAt - a.acceptedAt',
        replace: '(a, b) => rank(b) - rank(a) || a.acceptedAt - b.acceptedAt',
        breaks: 'Of an incomplete review with a focus, `retry` says that nothing is missing.',
      },
      {
        name: 'retry: the text of a head that was not read as a whole',
        find: 'full && isWorthAnotherAttempt(full) ? full : ofHead[0]',
        replace: 'ofHead[0]',
        breaks: 'Once its description was edited, a review that failed can’t be retried.',
      },
      {
        name: 'retry: what was superseded is retried in vain',
        find: "(run.outcome === 'superseded' ? 0 : 1)",
        replace: '1',
        breaks: 'After a late delivery an incomplete review can’t be completed.',
      },
    ],
  ),
  ...mutantsOf(
    { file: 'shared/publishing/check-run.ts', tests: ['test/shared/publishing/check-run.test.ts'], schedules: [] },
    [
      {
        name: 'check run: every run that failed is said to be retried',
        find: "cause === causeOf.head(head, baseRef) ? 'retry' : 'review'",
        replace: "cause !== '' && head !== baseRef ? 'retry' : 'review'",
        breaks: 'Who comments what the check run says is told that there is nothing to retry.',
      },
    ],
  ),
  ...mutantsOf({ file: 'shared/coordinator/start-run.ts', tests: ['test/functions/api/runs.test.ts'], schedules: [] }, [
    {
      name: 'retry: nobody waits for it',
      find: "{ ...requestAgain(run), askedBy: 'person' }",
      replace: 'requestAgain(run)',
      breaks: 'What a person retries waits as long as what was pushed.',
    },
  ]),
]
