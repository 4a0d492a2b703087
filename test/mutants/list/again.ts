/** Of runs that are asked for again, and of cancelling what was asked for. */
import { type Mutant, mutantsOf } from '../mutant.ts'

export const again: readonly Mutant[] = [
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
        find: 'updateRun(ledger, run, told, {',
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
]
