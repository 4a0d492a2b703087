/** Mutants of findings that their lens no longer claims: silence is no change of the code. */
import { mutantsOf } from '../mutant.ts'

const answered = mutantsOf(
  {
    file: 'shared/verdict/reconciliation.ts',
    tests: ['test/shared/verdict/silence.test.ts', 'test/functions/conclude/core/conclude.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'silence: clears a fenced finding',
      find: '!finding.fenced && !isMeant && !isSameHead',
      replace: '!isMeant && !isSameHead',
      breaks: 'A security finding counts as fixed because a model did not repeat the finding.',
    },
    {
      name: 'silence: clears at the same head',
      find: "verb === 'fixed' && facts.sameHead.includes(finding.fingerprint)",
      replace: 'false',
      breaks: 'Another request turns a check run green without any change.',
    },
    {
      name: 'silence: a misquoted claim counts as silence',
      find: '!finding.fenced && !isMeant && !isSameHead',
      replace: '!finding.fenced && !isSameHead',
      breaks: 'A finding that its model repeats with a wrong quote counts as fixed.',
    },
    {
      name: 'silence: an analyzer over its limit counts as silent',
      find: "verb === 'fixed' && isMeant ? 'not_looked_at' : verb",
      replace: 'verb',
      breaks: 'A secret counts as fixed because many other secrets were added.',
    },
    {
      name: 'silence: the location guessed',
      find: 'current === undefined || others.length > 0',
      replace: 'current === undefined',
      breaks: 'A comment stands on a line that the finding may not mean.',
    },
    {
      name: 'silence: removed code stands in no file',
      find: "file?.status === 'removed' && location.side === 'RIGHT'",
      replace: 'false',
      breaks: 'A finding outside the diff outlives its file.',
    },
    {
      name: 'fenced: made milder by its model',
      find: 'isMilder && open.fenced',
      replace: 'isMilder && !open.fenced',
      breaks: 'A model that repeats a critical finding as a suggestion lets the pull request be merged.',
    },
  ],
)

const quoted = mutantsOf(
  { file: 'shared/findings/quoted-code.ts', tests: ['test/shared/verdict/silence.test.ts'], schedules: [] },
  [
    {
      name: 'quoted code: restored code counts as removed',
      find: "side === 'LEFT' && !rows",
      replace: 'false && !rows',
      breaks: 'A finding about removed code stays open although the code is back.',
    },
    {
      name: 'quoted code: redacted code is not recognised',
      find: '(!isLiteral && ',
      replace: '(isLiteral && ',
      breaks: 'Silence clears a fenced finding whose quote has a secret.',
    },
    {
      name: 'quoted code: code outside the diff counts as gone',
      find: "side === 'RIGHT' && !inDiff && placesOf",
      replace: "side === 'RIGHT' && inDiff && placesOf",
      breaks: 'Silence clears a finding in lines that the diff does not show.',
    },
  ],
)

const concluded = mutantsOf(
  {
    file: 'functions/conclude/core/conclude.ts',
    tests: ['test/functions/conclude/core/conclude.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'conclude: every head counts as the same',
      find: 'if (openAtHead !== head) return []',
      replace: '',
      breaks: 'A finding that a push has fixed stays open.',
    },
    {
      name: 'conclude: an unread finding counts as standing at this head',
      find: '!unseen.has(fingerprint)',
      replace: 'true',
      breaks: 'The first look at a head answers no finding.',
    },
  ],
)

export const silence = [...answered, ...quoted, ...concluded]
