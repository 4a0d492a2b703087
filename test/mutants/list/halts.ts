/** Of halts: whose stands, and who lifts it. */
import { mutantsOf } from '../mutant.ts'

const stored = mutantsOf({ file: 'shared/ledger/halt.ts', tests: ['test/shared/ledger/halt.test.ts'], schedules: [] }, [
  {
    name: 'halts: a pause keeps an operator’s halt out',
    find: 'if (standing && (isPause(halt) || !isPause(standing))) return',
    replace: 'if (standing) return',
    breaks: 'An operator’s halt over a pause is not recorded, and a comment lifts it.',
  },
  {
    name: 'halts: a pause takes the place of an operator’s halt',
    find: '(isPause(halt) || !isPause(standing))',
    replace: '!isPause(halt) && !isPause(standing)',
    breaks: 'Who pauses over an operator’s halt can lift it.',
  },
  {
    name: 'halts: lifted whosever it is',
    find: "if (!mayLift(standing)) return { kind: 'stays', halt }\n",
    replace: '',
    breaks: 'A comment lifts an operator’s halt that was set since the command was read.',
  },
])

const commanded = mutantsOf(
  { file: 'functions/command/do-command.ts', tests: ['test/functions/command/do-command.test.ts'], schedules: [] },
  [
    {
      name: 'command: resume lifts whosever halt stands',
      find: 'liftHalt(ledger, scope, isPause)',
      replace: 'liftHalt(ledger, scope)',
      breaks: 'A comment lifts an operator’s halt that was set since the command was read.',
    },
    {
      name: 'command: a pause that was not taken is promised',
      find: 'isPause(standing) ? replyTexts.paused() : replyTexts.haltedByOperator()',
      replace: 'replyTexts.paused()',
      breaks: 'Who pauses over an operator’s halt is told that a comment lifts it.',
    },
  ],
)

export const halts = [...stored, ...commanded]
