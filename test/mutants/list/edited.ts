/** Mutants of runs of analyzers, which carry findings from the earlier verdict. */
import { type Mutant, mutantsOf } from '../mutant.ts'

const judges = { tests: ['test/functions/conclude/edited.test.ts'], schedules: [] } as const

export const edited: readonly Mutant[] = [
  ...mutantsOf({ file: 'functions/plan/core/plan.ts', ...judges }, [
    {
      name: 'description edited: the rounds are no longer over',
      find: 'return isOver && lastFullHeadOf(lastConclusion) !== run.head ?',
      replace: "return isOver && run.head === '' ?",
      breaks: 'An edit of the description removes the demand for a maintainer, and can make the check run green.',
    },
    {
      name: 'description edited: the head of the last round counts as unread',
      find: 'return isOver && lastFullHeadOf(lastConclusion) !== run.head ?',
      replace: 'return isOver ?',
      breaks: 'A pull request that passed in its last round needs a maintainer after an edit of its description.',
    },
  ]),
  ...mutantsOf({ file: 'functions/plan/core/carried-outcomes.ts', ...judges }, [
    {
      name: 'description edited: an unread finding counts as seen',
      find: ' && !unseen.has(finding.fingerprint)',
      replace: '',
      breaks: 'The verdict calls a finding still present that no lens has looked at.',
    },
    {
      name: 'description edited: files without a model are forgotten',
      find: 'leftOut: hasModel ?',
      replace: 'leftOut: !hasModel ?',
      breaks: 'A partly read pull request passes after an edit of its description.',
    },
  ]),
  ...mutantsOf({ file: 'functions/conclude/core/check-run.ts', ...judges }, [
    {
      name: 'conclude: a finding without a second look is annotated',
      find: ' || unseen.has(fingerprint)',
      replace: '',
      breaks: 'An annotation stands on a line that has moved.',
    },
  ]),
  ...mutantsOf({ file: 'functions/conclude/core/conclude.ts', ...judges }, [
    {
      name: 'conclude: files over budget are not missing',
      find: 'leftOut.filter(isMissing)',
      replace: 'leftOut.slice(0, 0)',
      breaks: 'A partly read pull request passes.',
    },
  ]),
]
