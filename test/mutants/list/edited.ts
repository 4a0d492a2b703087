/** Of what a run of analyzers keeps of the verdict before it. */
import { type Mutant, mutantsOf } from '../mutant.ts'

const judges = { tests: ['test/functions/conclude/edited.test.ts'], schedules: [] } as const

export const edited: readonly Mutant[] = [
  ...mutantsOf({ file: 'functions/plan/core/plan.ts', ...judges }, [
    {
      name: 'text edited: the rounds are over no longer',
      find: 'return isOver && lastFullHeadOf(lastConclusion) !== run.head ?',
      replace: "return isOver && run.head === '' ?",
      breaks: 'An edit of the description takes the demand for a maintainer away, and can make the check run green.',
    },
    {
      name: 'text edited: the head of the last round was not read',
      find: 'return isOver && lastFullHeadOf(lastConclusion) !== run.head ?',
      replace: 'return isOver ?',
      breaks: 'A pull request that passed in its last round needs a maintainer once its description is edited.',
    },
  ]),
  ...mutantsOf({ file: 'functions/plan/core/carried-outcomes.ts', ...judges }, [
    {
      name: 'text edited: what nobody looked at is seen',
      find: ' && !unseen.has(finding.fingerprint)',
      replace: '',
      breaks: 'A finding is called still present that nobody has looked at.',
    },
    {
      name: 'text edited: files that no model was given are forgotten',
      find: 'leftOut: hasModel ?',
      replace: 'leftOut: !hasModel ?',
      breaks: 'A pull request of which only a part was read passes once its description is edited.',
    },
  ]),
  ...mutantsOf({ file: 'functions/conclude/core/check-run.ts', ...judges }, [
    {
      name: 'conclude: what nobody looked at again is annotated',
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
      breaks: 'A pull request of which only a part was read passes.',
    },
  ]),
]
