/** Mutants of requested and cancelled runs. */
import { type Mutant, mutantsOf } from '../mutant.ts'

/** A delivery joins a run that is being ended for an earlier view of GitHub. */
const joined = {
  tests: ['test/shared/ledger/run.test.ts', 'test/shared/ledger/thread.test.ts'],
  schedules: ['test/simulation/schedules/joined.test.ts'],
} as const

const joinedMeanwhile = [
  ...mutantsOf({ file: 'shared/ledger/run.ts', ...joined }, [
    {
      name: 'joined: an event after the look at GitHub ends with its run',
      find: ' || current.eventAt > asOf',
      replace: '',
      breaks: 'No run reviews a head that is pushed again while its run is being superseded.',
    },
  ]),
  ...mutantsOf({ file: 'functions/plan/without-plan.ts', ...joined }, [
    {
      name: 'joined: plan ends a run despite an event after its look at GitHub',
      find: 'asOf: run.eventAt, ',
      replace: '',
      breaks: 'No run reviews a pull request that is reopened while Plan sees the pull request closed.',
    },
  ]),
  ...mutantsOf({ file: 'functions/post/end-run.ts', ...joined }, [
    {
      name: 'joined: post ends a run despite an event after its look at GitHub',
      find: 'asOf: run.eventAt, ',
      replace: '',
      breaks: 'No run reviews a head that is pushed again before its review is posted.',
    },
  ]),
  ...mutantsOf({ file: 'shared/ledger/thread.ts', ...joined }, [
    {
      name: 'joined: a claim ends a run with a later event',
      find: 'ends.eventAt > run.eventAt ? requestAgain(ends) : undefined',
      replace: 'undefined',
      breaks:
        'A head that was pushed again waits for the review of the head that GitHub showed before, or is lost with that review.',
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
      name: 'edited: an edited description overtakes the review of its head',
      find: 'if (isLater && !overtakesTextRun) return',
      replace: 'if (isLater) return',
      breaks: 'No model reads a pull request whose edited description arrives before its opening.',
    },
    {
      name: 'edited: an earlier event overtakes a requested review',
      find: "isLater && live.kind === 'analyzers' && run",
      replace: 'isLater && run',
      breaks: 'A late delivery ends a review that a person has requested since.',
    },
    {
      name: 'edited: an earlier head overtakes the edited head',
      find: " && run.kind === 'full' && isOfHead(thread, run)",
      replace: " && run.kind === 'full'",
      breaks: 'A late webhook stops the review of a newer head.',
    },
    {
      name: 'edited: the run forgets that its head was live',
      find: 'overtakesTextRun || live?.runId === run.runId ? live.eventAt : 0',
      replace: '0',
      breaks: 'A closing before the edit ends the review of a pull request that was reopened.',
    },
  ],
)

/** The webhook of a closing comes late. */
const closed = [
  ...mutantsOf(
    {
      file: 'functions/command/core/closing.ts',
      tests: ['test/functions/command/core/closing.test.ts'],
      schedules: ['test/simulation/schedules/closing.test.ts'],
    },
    [
      {
        name: 'closing: ends a run that GitHub has shown open since',
        find: 'Math.max(live.eventAt, openAt) > eventAt',
        replace: 'live.eventAt > eventAt',
        breaks: 'An earlier closing ends a review that a person requests after a reopening without a webhook.',
      },
      {
        name: 'closing: ends a run that was seen open in the same second',
        find: 'asksAgain: openAt === eventAt',
        replace: 'asksAgain: false',
        breaks:
          'No run reviews a pull request that is reopened in the second of its closing, if the reopening’s webhook is lost.',
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
        name: 'plan: a late call claims another call’s plan',
        find: 'if (current.plan !== undefined) return',
        replace: 'if (current.plan === "") return',
        breaks: 'A concluded run runs again.',
      },
      {
        name: 'closing: the run forgets that GitHub showed it open',
        find: 'seenOpen(decision.thread, pullRequest.updatedAt)',
        replace: 'seenOpen(decision.thread, 0)',
        breaks: 'An earlier closing ends a review that a person requests after a reopening without a webhook.',
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
        name: 'closing: a lagging view undoes that the run was seen open',
        find: 'Math.max(liveRun.openAt ?? 0, openAt)',
        replace: 'openAt',
        breaks: 'An earlier closing ends the review, though GitHub has shown the pull request open since.',
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
      file: 'shared/ledger/run.ts',
      tests: ['test/shared/coordinator/hold.test.ts'],
      schedules: ['test/simulation/schedules/claims.test.ts'],
    },
    [
      {
        name: 'again: a requested run keeps its old event',
        find: 'const eventAt = Math.max(run.eventAt, asking.eventAt)',
        replace: 'const eventAt = run.eventAt',
        breaks: 'After a push back whose webhook was lost, every request for the head is superseded again.',
      },
      {
        name: 'again: a run before its beginning is left to be superseded',
        find: 'isLive(run.state) ? run.eventAt >= after :',
        replace: 'isLive(run.state) ? true :',
        breaks: 'No run reviews a head that was pushed again before its run began, if that push’s webhook was lost.',
      },
      {
        name: 'again: a closed run stays closed',
        find: "['superseded', 'closed']",
        replace: "['superseded']",
        breaks: 'No run reviews a head that is pushed again after a reopening without a webhook.',
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
        name: 'cancel: a run that is cancelled while ending keeps its outcome',
        find: 'updateRun(ledger, run, cancellation, {',
        replace: 'updateRun(ledger, run, {}, {',
        breaks: 'A reopened pull request with a cancelled review shows the outcome closed, and no canceller.',
      },
      {
        name: 'cancel: the next attempt begins all the same',
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
        name: 'retry: the head’s run goes before the run that posted last',
        find: '(a, b) => rank(b) - rank(a) || b.acceptedAt - a.acceptedAt',
        replace: '(a, b) => rank(b) - rank(a) || a.acceptedAt - b.acceptedAt',
        breaks: '`retry` of an incomplete review with a focus answers that nothing is missing.',
      },
      {
        name: 'retry: picks the description run of an unfinished head',
        find: 'full && isWorthAnotherAttempt(full) ? full : ofHead[0]',
        replace: 'ofHead[0]',
        breaks: 'After an edit of the description, a failed review can’t be retried.',
      },
      {
        name: 'retry: picks a superseded run',
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
        name: 'check run: every failed run offers a retry',
        find: "cause === causeOf.head(head, baseRef) ? 'retry' : 'review'",
        replace: "cause !== '' && head !== baseRef ? 'retry' : 'review'",
        breaks: 'A person who comments as the check run advises is told that nothing can be retried.',
      },
    ],
  ),
  ...mutantsOf({ file: 'shared/coordinator/start-run.ts', tests: ['test/functions/api/runs.test.ts'], schedules: [] }, [
    {
      name: 'retry: gets the turn of a push',
      find: "{ ...requestAgain(run), askedBy: 'person' }",
      replace: 'requestAgain(run)',
      breaks: 'A review that a person retries waits as long as a pushed review.',
    },
  ]),
]
