/** The simulated machine refuses every definition that AWS would run differently. */
import { expect, test } from 'vitest'
import { taskMachine, waitMachine } from '../../infra/local/stepfunctions/machine.ts'
import { compileMachine } from './machine.ts'
import { definition } from './machine-rooms.ts'

const only = (state: object): object => ({ StartAt: 'Only', States: { Only: state } })
const pass = { Type: 'Pass', End: true }
const wait = only({ Type: 'Wait', Seconds: 1, End: true })
const map = (changes: object): object => {
  const ItemProcessor = { ProcessorConfig: { Mode: 'INLINE' }, StartAt: 'Item', States: { Item: pass } }
  return only({ Type: 'Map', ItemProcessor, End: true, ...changes })
}
const choice = (rule: object): object => ({
  StartAt: 'Only',
  States: { Only: { Type: 'Choice', Choices: [{ ...rule, Next: 'End' }] }, End: pass },
})
const retry = (changes: object): object => taskMachine({ Retry: [{ ErrorEquals: ['busy'], ...changes }] })

test('the compiler accepts the real machine, and each supported feature alone', () => {
  for (const machine of [
    definition,
    taskMachine(),
    waitMachine(),
    map({}),
    only(pass),
    wait,
    retry({ MaxAttempts: 0 }),
  ]) {
    expect(compileMachine(machine).definition).toBe(machine)
  }
})

test.each([
  ['AW64: a task without a timeout', taskMachine({ TimeoutSeconds: undefined }), 'TimeoutSeconds'],
  ['a timeout by path', taskMachine({ TimeoutSecondsPath: '$.timeout' }), 'TimeoutSecondsPath'],
  ['a heartbeat', taskMachine({ HeartbeatSeconds: 5 }), 'HeartbeatSeconds'],
  ['another service', taskMachine({ Resource: 'arn:aws:states:::sqs:sendMessage' }), 'sqs:sendMessage'],
  ['another parameter', taskMachine({ Parameters: { FunctionName: 'f', InvocationType: 'Event' } }), 'InvocationType'],
  ['JSONata', taskMachine({ QueryLanguage: 'JSONata' }), 'QueryLanguage'],
  ['a variable', taskMachine({ Assign: { n: 1 } }), 'Assign'],
  ['an input path', taskMachine({ InputPath: '$.a' }), 'InputPath'],
  [
    'a token in a task that does not wait',
    taskMachine({ Parameters: { FunctionName: 'f', Payload: { 't.$': '$$.Task.Token' } } }),
    '$$.Task',
  ],
  ['$$.State', taskMachine({ ResultSelector: { 'at.$': '$$.State.Name' } }), '$$.State'],
  ['an intrinsic function', taskMachine({ ResultSelector: { 'id.$': 'States.UUID()' } }), 'States.UUID()'],
  ['an index', taskMachine({ ResultSelector: { 'first.$': '$.list[0]' } }), '$.list[0]'],
  ['a result path with an index', taskMachine({ ResultPath: '$.list[0]' }), '$.list[0]'],
  ['an unknown jitter', retry({ JitterStrategy: 'HALF' }), 'HALF'],
  ['an interval of no time', retry({ IntervalSeconds: 0 }), 'IntervalSeconds'],
  ['an unknown retry field', retry({ MaxTotalSeconds: 5 }), 'MaxTotalSeconds'],
  ['a catch to nowhere', taskMachine({ Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Gone' }] }), 'Gone'],
  ['a way to nowhere', only({ Type: 'Pass', Next: 'Gone' }), 'Gone'],
  ['neither end nor next', only({ Type: 'Pass' }), 'Next'],
  ['another comparison', choice({ Variable: '$.n', NumericEquals: 1 }), 'NumericEquals'],
  ['a negation', choice({ Not: { Variable: '$.n', IsPresent: true } }), 'Not'],
  ['a Wait state until a time', only({ Type: 'Wait', Timestamp: '2026-01-05T09:00:00Z', End: true }), 'Timestamp'],
  ['a Wait state of no time', only({ Type: 'Wait', Seconds: 0, End: true }), 'Seconds'],
  ['a Parallel state', only({ Type: 'Parallel', Branches: [], End: true }), 'Parallel'],
  ['a timeout of the whole', { ...taskMachine(), TimeoutSeconds: 5 }, 'TimeoutSeconds'],
  ['a start at an unknown state', { StartAt: 'Gone', States: {} }, 'Gone'],
  ['a fixed width', map({ MaxConcurrency: 2 }), 'MaxConcurrency'],
  ['tolerated failures', map({ ToleratedFailureCount: 1 }), 'ToleratedFailureCount'],
  [
    'a distributed Map',
    map({ ItemProcessor: { ProcessorConfig: { Mode: 'DISTRIBUTED' }, StartAt: 'Item', States: { Item: pass } } }),
    'INLINE',
  ],
  [
    'an item beyond the ItemSelector',
    only({ ...pass, Parameters: { 'item.$': '$$.Map.Item.Value' } }),
    '$$.Map.Item.Value',
  ],
  [
    'a name that exists twice',
    map({ ItemProcessor: { ProcessorConfig: { Mode: 'INLINE' }, StartAt: 'Only', States: { Only: pass } } }),
    'twice',
  ],
])('%s is refused by name', (_title, machine, reason) => {
  expect(() => compileMachine(machine)).toThrow(reason)
})

test('a refusal names all problems at once, each with its state', () => {
  const machine = taskMachine({ HeartbeatSeconds: 5, Assign: {}, Next: 'Gone' })

  expect(() => compileMachine(machine)).toThrow(/"Only".*HeartbeatSeconds[\s\S]*"Only".*Assign[\s\S]*"Only".*Next/)
})
