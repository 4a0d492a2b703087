/**
 * Machines that the engine would run otherwise than AWS are refused at the start of the service, not during an
 * execution.
 */
import { describe, expect, test } from 'vitest'
import { DefinitionRefused, prepare } from '../../../../infra/local/stepfunctions/definition.ts'
import { reviewMachine, taskMachine } from './machine.ts'

function problemsOf(definition: object): readonly string[] {
  try {
    prepare(definition)
    return []
  } catch (error) {
    if (error instanceof DefinitionRefused) return error.problems
    throw error
  }
}

const only = (state: object): object => ({ StartAt: 'Only', States: { Only: state } })

describe('a definition', () => {
  test('a definition in the common subset is accepted, with every task of every level', () => {
    expect(problemsOf(reviewMachine)).toEqual([])
    expect([...prepare(reviewMachine).tasks.keys()]).toEqual(['Plan', 'Admit', 'Review', 'Conclude'])
  })

  test.each([
    ['AW64: a task without a timeout', taskMachine({ TimeoutSeconds: undefined }), 'has no TimeoutSeconds'],
    ['a heartbeat', taskMachine({ HeartbeatSeconds: 5 }), 'HeartbeatSeconds'],
    ['another service', taskMachine({ Resource: 'arn:aws:states:::sqs:sendMessage' }), 'Use lambda:invoke'],
    ['JSONata', taskMachine({ QueryLanguage: 'JSONata' }), 'QueryLanguage'],
    ['a timeout of the whole', { ...taskMachine(), TimeoutSeconds: 5 }, 'TimeoutSeconds'],
    ['a variable', taskMachine({ Assign: { n: 1 } }), 'Assign'],
    ['States.TaskFailed', taskMachine({ Retry: [{ ErrorEquals: ['States.TaskFailed'] }] }), 'States.TaskFailed'],
    ['$$.State', taskMachine({ ResultSelector: { 'at.$': '$$.State.EnteredTime' } }), '$$.State'],
    ['a Wait state until a time', only({ Type: 'Wait', Timestamp: '2026-01-05T09:00:00Z', End: true }), 'Timestamp'],
    ['a Wait state of no time', only({ Type: 'Wait', Seconds: 0, End: true }), 'no Seconds'],
    ['a start that is no state', { StartAt: 'Gone', States: {} }, 'StartAt'],
    [
      'a distributed Map',
      only({
        Type: 'Map',
        End: true,
        ItemProcessor: { ...taskMachine(), ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' } },
      }),
      'Only INLINE',
    ],
    ['a name that exists twice', only({ Type: 'Map', End: true, ItemProcessor: taskMachine() }), 'exists twice'],
  ])('a definition with %s is refused, with the reason', (_title, definition, reason) => {
    expect(problemsOf(definition).join('\n')).toContain(reason)
  })

  test('a definition with several problems gets one error with all of them', () => {
    expect(problemsOf(taskMachine({ TimeoutSeconds: undefined, HeartbeatSeconds: 5, Assign: {} }))).toHaveLength(3)
  })
})

test('a definition with $$.Execution inside a Map gets the whole execution there', async () => {
  const processor = {
    StartAt: 'Item',
    States: { Item: { Type: 'Pass', Parameters: { 'from.$': '$$.Execution.Input.from' }, End: true } },
  }
  const { engine } = prepare(only({ Type: 'Map', ItemsPath: '$.items', ItemProcessor: processor, End: true }))
  const input = { items: [1, 2], from: 'start' }

  const output = await engine.run(input, { context: { Started: { Input: input } } }).result

  expect(output).toEqual([{ from: 'start' }, { from: 'start' }])
})
