/** Mutants of halts: owners and lifting. */
import { mutantsOf } from '../mutant.ts'

const stored = mutantsOf({ file: 'shared/ledger/halt.ts', tests: ['test/shared/ledger/halt.test.ts'], schedules: [] }, [
  {
    name: 'halts: a pause blocks an operator’s halt',
    find: 'if (standing && (isPause(halt) || !isPause(standing))) return',
    replace: 'if (standing) return',
    breaks: 'An operator’s halt over a pause is not recorded, and a comment lifts the halt.',
  },
  {
    name: 'halts: a pause replaces an operator’s halt',
    find: '(isPause(halt) || !isPause(standing))',
    replace: '!isPause(halt) && !isPause(standing)',
    breaks: 'A person who pauses over an operator’s halt can lift the halt.',
  },
  {
    name: 'halts: lifted whoever set it',
    find: "if (!mayLift(standing)) return { kind: 'stays', halt }\n",
    replace: '',
    breaks: 'A comment lifts an operator’s halt that was set since the command was read.',
  },
])

const commanded = mutantsOf(
  { file: 'functions/command/do-command.ts', tests: ['test/functions/command/do-command.test.ts'], schedules: [] },
  [
    {
      name: 'command: resume lifts any halt',
      find: 'liftHalt(ledger, scope, isPause)',
      replace: 'liftHalt(ledger, scope)',
      breaks: 'A comment lifts an operator’s halt that was set since the command was read.',
    },
    {
      name: 'command: a refused pause is confirmed',
      find: 'isPause(standing) ? replyTexts.paused() : replyTexts.haltedByOperator()',
      replace: 'replyTexts.paused()',
      breaks: 'A person who pauses over an operator’s halt is told that a comment lifts the halt.',
    },
  ],
)

export const halts = [...stored, ...commanded]
