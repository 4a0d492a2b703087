/** Of findings that their lens says nothing more of: silence is no change of the code. */
import { mutantsOf } from '../mutant.ts'

const answered = mutantsOf(
  {
    file: 'shared/verdict/reconciliation.ts',
    tests: ['test/shared/verdict/silence.test.ts', 'test/functions/conclude/core/conclude.test.ts'],
    schedules: [],
  },
  [
    {
      name: 'silence: clears what is fenced',
      find: '!finding.fenced && !isMeant && !isSameHead',
      replace: '!isMeant && !isSameHead',
      breaks: 'A way in that was found is fixed because a model did not repeat it.',
    },
    {
      name: 'silence: clears at the same head',
      find: "verb === 'fixed' && facts.sameHead.includes(finding.fingerprint)",
      replace: 'false',
      breaks: 'Asking once more turns a check green, with no change at all.',
    },
    {
      name: 'silence: a misquoted claim is none',
      find: '!finding.fenced && !isMeant && !isSameHead',
      replace: '!finding.fenced && !isSameHead',
      breaks: 'A finding that its model repeats with a wrong quote is fixed.',
    },
    {
      name: 'silence: of an analyzer over its limit',
      find: "verb === 'fixed' && isMeant ? 'not_looked_at' : verb",
      replace: 'verb',
      breaks: 'A secret is fixed because so many others were added.',
    },
    {
      name: 'silence: a place is guessed',
      find: 'current === undefined || others.length > 0',
      replace: 'current === undefined',
      breaks: 'A comment goes to a line that the finding may not be about.',
    },
    {
      name: 'silence: removed code stands in no file',
      find: "file?.status === 'removed' && location.side === 'RIGHT'",
      replace: 'false',
      breaks: 'A finding outside of the diff outlives its file.',
    },
    {
      name: 'fenced: made milder by its model',
      find: 'isMilder && open.fenced',
      replace: 'isMilder && !open.fenced',
      breaks: 'A model that repeats a critical finding as a suggestion lets it be merged.',
    },
  ],
)

const quoted = mutantsOf(
  { file: 'shared/findings/quoted-code.ts', tests: ['test/shared/verdict/silence.test.ts'], schedules: [] },
  [
    {
      name: 'quoted code: put back, it is still removed',
      find: "side === 'LEFT' && !rows",
      replace: 'false && !rows',
      breaks: 'A finding about removed code stays open when the code is back.',
    },
    {
      name: 'quoted code: redacted, it is not known again',
      find: '(!isLiteral && ',
      replace: '(isLiteral && ',
      breaks: 'A fenced finding whose quote has a secret is cleared by silence.',
    },
    {
      name: 'quoted code: outside of the diff it is gone',
      find: "side === 'RIGHT' && !inDiff && placesOf",
      replace: "side === 'RIGHT' && inDiff && placesOf",
      breaks: 'A finding in lines that the diff does not show is cleared by silence.',
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
      name: 'conclude: every head is the same',
      find: 'if (openAtHead !== head) return []',
      replace: '',
      breaks: 'What a push has fixed stays open.',
    },
    {
      name: 'conclude: what nobody looked at stood at this head',
      find: '!unseen.has(fingerprint)',
      replace: 'true',
      breaks: 'The first look at a head answers nothing.',
    },
  ],
)

export const silence = [...answered, ...quoted, ...concluded]
