/** Rare cases of the States Language in a simulated execution, and the visible facts of an execution. */
import { describe, expect, test } from 'vitest'
import { functionArn, machineArn, taskMachine, waitMachine } from '../../infra/local/stepfunctions/machine.ts'
import { type Call, openMachine } from './machine-kit.ts'
import { definition } from './machine-rooms.ts'

const catchAll = { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }] }
const caught = { Type: 'Succeed' }

/** The task machine with a second state as the target of catchers. */
function catching(changes: object): object {
  const { StartAt, States } = taskMachine({ ...catchAll, ...changes }) as { StartAt: string; States: object }
  return { StartAt, States: { ...States, Caught: caught } }
}

/** A Map over `$.items`, with one task per item. */
function mapMachine(changes: object = {}): object {
  const ItemProcessor = {
    ProcessorConfig: { Mode: 'INLINE' },
    ...taskMachine({ Resource: 'arn:aws:states:::lambda:invoke' }),
  }
  const Each = { Type: 'Map', ItemsPath: '$.items', ItemProcessor, End: true, ...changes }
  return { StartAt: 'Each', States: { Each, Caught: caught } }
}

const succeed = ({ done }: Call): void => done({ ok: 'done' })

describe('executions', () => {
  test('an execution begins in an event after the start’s answer, and begins once however often it is started', () => {
    const { queue, request, machine, calls } = openMachine(waitMachine())
    const start = { stateMachineArn: machineArn, name: 'run', input: '{}' }

    const answers = [request('StartExecution', start), request('StartExecution', start)]
    expect([calls.length, machine.execution('run')?.current()]).toEqual([0, []])
    queue.run(0)

    expect(answers[0]).toEqual(answers[1])
    expect(calls).toHaveLength(1)
  })

  test('an execution that is stopped before the beginning never begins', () => {
    const { queue, request, machine, calls } = openMachine(taskMachine())
    const { executionArn } = request('StartExecution', { stateMachineArn: machineArn, name: 'run' })

    request('StopExecution', { executionArn })
    queue.run()

    expect([machine.execution('run')?.status, calls.length]).toEqual(['ABORTED', 0])
  })

  test('an execution shows the current state, the entered states and the open tokens', () => {
    const { start, machine } = openMachine(definition, {
      respond({ room, done }) {
        const reviews = ['first', 'second', 'third']
        if (room === 'plan') done({ ok: { outcome: 'planned', ceiling: 2, reviews, adjudication: 'adjudication' } })
      },
    })

    const execution = start({ contract: 1, runId: 'run', attempt: 1 })

    expect(machine.executions()).toEqual([execution])
    expect(execution.current()).toEqual(['ReviewMap', 'Admit', 'Admit'])
    expect(Object.fromEntries(execution.entered)).toEqual({ Plan: 1, PlanOutcome: 1, ReviewMap: 1, Admit: 2 })
    expect(execution.transitions).toBe(5)
    const tokens = execution.openTokens()
    expect(tokens.map(({ state }) => state)).toEqual(['Admit', 'Admit'])
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(2)
  })

  test('an execution’s history has the kinds of events of AWS', () => {
    const { start, request } = openMachine(taskMachine(), { respond: succeed })
    const execution = start()

    const { events } = request('GetExecutionHistory', { executionArn: execution.arn })

    expect((events as { type: string }[]).map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'TaskScheduled',
      'TaskStarted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ])
  })

  test('a Wait state keeps an execution and its data for the given time, and a stop ends the wait', () => {
    const { States } = taskMachine() as { States: object }
    const machine = { StartAt: 'Rest', States: { Rest: { Type: 'Wait', Seconds: 5, Next: 'Only' }, ...States } }
    const { queue, request, start, calls } = openMachine(machine, { respond: succeed })
    const execution = start({ n: 1 })
    const stopped = start({ n: 2 }, 'stopped')

    queue.run(4_999)
    expect([execution.current(), calls.length]).toEqual([['Rest'], 0])
    request('StopExecution', { executionArn: stopped.arn })
    queue.run()

    expect(calls).toMatchObject([{ atMs: 5_000, payload: { input: { n: 1 } } }])
    expect(execution).toMatchObject({ status: 'SUCCEEDED', transitions: 2 })
    expect(stopped).toMatchObject({ status: 'ABORTED', transitions: 1 })
  })

  test('an endless execution fails at 25000 events', () => {
    const states = { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', Next: 'A' } }
    const { start } = openMachine({ StartAt: 'A', States: states })

    const execution = start()

    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.Runtime' })
    expect(execution.lines).toHaveLength(25_001)
  })

  test('an execution ends at 25000 events whichever event is the last, and leaves nothing running', () => {
    const each = { ...(mapMachine() as { States: { Each: object } }).States.Each, ResultPath: null, End: undefined }
    // A round has 11 events, so starting with 0 to 10 extra events puts every event at the limit once.
    for (let before = 0; before < 11; before += 1) {
      const passes = Array.from({ length: before }, (_, index) => [
        `P${index}`,
        { Type: 'Pass', Next: index + 1 < before ? `P${index + 1}` : 'Round' },
      ])
      const round = { Round: { Type: 'Pass', Next: 'Each' }, Each: { ...each, Next: 'Round' } }
      const loop = { StartAt: before > 0 ? 'P0' : 'Round', States: { ...Object.fromEntries(passes), ...round } }
      const opened = openMachine(JSON.parse(JSON.stringify(loop)), {
        respond: ({ done }) => void opened.queue.after(1, () => done({ ok: null })),
      })
      const execution = opened.start({ items: ['a'] })

      opened.queue.run()

      expect(execution).toMatchObject({ status: 'FAILED', error: 'States.Runtime' })
      expect(execution.lines.filter(({ kind }) => kind === 'ended')).toEqual([execution.lines.at(-1)])
      expect([execution.current(), execution.openTokens()]).toEqual([[], []])
      // An attempt that is the last event calls no function.
      const attempts = execution.lines.slice(0, -2).filter(({ kind }) => kind === 'attempt')
      expect(opened.calls).toHaveLength(attempts.length)
    }
  })

  test('an execution that is stopped during a call cancels the call and keeps the first reason', () => {
    const opened = openMachine(taskMachine(), { respond: () => ['first', 'second'].map((error) => stop(error)) })
    const stop = (error: string): unknown =>
      opened.request('StopExecution', { executionArn: opened.machine.execution('run')?.arn, error })

    const execution = opened.start()

    expect(execution).toMatchObject({ status: 'ABORTED', error: 'first' })
    expect(opened.calls.map(({ isCancelled }) => isCancelled)).toEqual([true])
    expect(opened.queue.waiting).toBe(0)
  })

  test('an execution shares no data with the rooms', () => {
    const { start, calls } = openMachine(taskMachine({ ResultPath: '$.result' }))
    const execution = start({ list: ['given'] })
    const [call] = calls
    const payload = call?.payload as { input: { list: string[] } }
    const result = { list: ['returned'] }

    payload.input.list.push('changed')
    call?.done({ ok: result })
    result.list.push('changed')

    const output = JSON.parse(execution.output ?? '')
    expect([output.list, output.result.Payload.list]).toEqual([['given'], ['returned']])
  })
})

describe('failures', () => {
  test.each([
    [
      'a payload with an absent path',
      { Parameters: { FunctionName: functionArn('only'), Payload: { 'a.$': '$.gone' } } },
    ],
    ['a result without the selected field', { ResultSelector: { 'a.$': '$.gone' } }],
  ])('%s is States.Runtime, and no Catch helps', (_title, changes) => {
    const { start } = openMachine(catching(changes), { respond: succeed })

    expect(start()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' })
  })

  test('a comparison with an absent value ends the execution', () => {
    const rule = { Variable: '$.gone', StringEquals: 'a', Next: 'End' }
    const states = { Only: { Type: 'Choice', Choices: [rule], Default: 'End' }, End: caught }

    expect(openMachine({ StartAt: 'Only', States: states }).start()).toMatchObject({ error: 'States.Runtime' })
  })

  test('a choice without a matching rule is States.NoChoiceMatched', () => {
    const rule = { Variable: '$.gone', IsPresent: true, Next: 'End' }
    const states = { Only: { Type: 'Choice', Choices: [rule] }, End: caught }

    expect(openMachine({ StartAt: 'Only', States: states }).start()).toMatchObject({ error: 'States.NoChoiceMatched' })
  })

  test('AW61: 262144 bytes fail the execution, and no Catch helps', () => {
    const { start } = openMachine(catching({}), { respond: ({ done }) => done({ ok: '😊'.repeat(65_536) }) })

    expect(start()).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' })
  })

  test('AW61: a result just below the limit fails the execution if the merged state exceeds the limit', () => {
    const { start } = openMachine(catching({ ResultPath: '$.result' }), {
      respond: ({ done }) => done({ ok: 'x'.repeat(262_000) }),
    })

    expect(start()).toMatchObject({ status: 'SUCCEEDED' })
    expect(start({ more: 'x'.repeat(200) }, 'second')).toMatchObject({ error: 'States.DataLimitExceeded' })
  })

  test('a catcher receives the name and the cause of a failure', () => {
    const { start } = openMachine(catching({}), { respond: ({ done }) => done({ error: 'dead', cause: 'Gone.' }) })

    expect(start().output).toBe('{"Error":"dead","Cause":"Gone."}')
  })

  test('every failure but a timeout matches States.TaskFailed', () => {
    const { queue, start, calls } = openMachine(
      catching({ Catch: [{ ErrorEquals: ['States.TaskFailed'], Next: 'Caught' }] }),
    )
    const failed = start()
    calls[0]?.done({ error: 'dead', cause: '' })
    const timedOut = start({}, 'second')
    queue.run()

    expect(failed.status).toBe('SUCCEEDED')
    expect(timedOut).toMatchObject({ status: 'FAILED', error: 'States.Timeout' })
  })
})

describe('Maps', () => {
  const items = Array.from({ length: 50 }, (_, index) => index)

  test('a Map runs at most 40 items at once, and no more than its width', () => {
    const wide = openMachine(mapMachine())
    wide.start({ items })
    const wider = openMachine(mapMachine({ MaxConcurrencyPath: '$.width' }))
    wider.start({ items, width: 45 })
    const narrow = openMachine(mapMachine({ MaxConcurrencyPath: '$.width' }))
    narrow.start({ items, width: 3 })

    expect([wide.calls.length, wider.calls.length, narrow.calls.length]).toEqual([40, 40, 3])
    narrow.calls[1]?.done({ ok: null })
    expect(narrow.calls.map(({ payload }) => payload.input)).toEqual([0, 1, 2, 3])
  })

  test('a Map keeps the order of its items, whichever item ends first', () => {
    const { start, calls } = openMachine(mapMachine())
    const execution = start({ items: ['a', 'b', 'c'] })

    for (const call of [...calls].reverse()) call.done({ ok: call.payload.input })

    const output = JSON.parse(execution.output ?? '') as { Payload: string }[]
    expect(output.map(({ Payload }) => Payload)).toEqual(['a', 'b', 'c'])
  })

  test('a Map fails with its first failed item, gives up the remaining items, and can be caught', () => {
    const { queue, start, calls } = openMachine(mapMachine(catchAll))
    const execution = start({ items: ['a', 'b', 'c'] })

    calls[1]?.done({ error: 'dead', cause: 'Gone.' })
    calls[0]?.done({ ok: null })

    expect(execution.output).toBe('{"Error":"dead","Cause":"Gone."}')
    expect(calls.map(({ isCancelled }) => isCancelled)).toEqual([true, false, true])
    expect(queue.waiting).toBe(0)
  })

  test.each([
    ['no array', { items: 'a' }, {}],
    ['no width', { items: [], width: 'two' }, { MaxConcurrencyPath: '$.width' }],
    ['a selector of an absent field', { items: ['a', 'b'] }, { ItemSelector: { 'item.$': '$.gone' } }],
  ])('a Map with %s is States.Runtime', (_title, input, changes) => {
    const { start, calls } = openMachine(mapMachine({ ...catchAll, ...changes }))

    expect([start(input).error, calls.length]).toEqual(['States.Runtime', 0])
  })
})

test('SendTaskSuccess with an unknown token is TaskDoesNotExist, and foreign targets are not served', () => {
  const { machine, request } = openMachine(waitMachine())
  const taskToken = `${'0'.repeat(32)}.${'0'.repeat(31)}9`

  expect(request('SendTaskSuccess', { taskToken, output: '{}' })).toEqual({ error: 'TaskDoesNotExist' })
  expect(request('CreateStateMachine')).toEqual({ error: 'UnknownOperationException' })
  expect(machine.answer({ method: 'POST', path: '/', headers: {}, body: '{}' }).status).toBe(400)
})
