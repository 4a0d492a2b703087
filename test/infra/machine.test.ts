/**
 * The state machine as data: the rules for every state, and the way through the machine for different answers of the
 * rooms.
 */
import { createRequire } from 'node:module'
import { StateMachine } from 'aws-local-stepfunctions'
import { describe, expect, test } from 'vitest'
import { machineDefinition, machineRooms, type State } from '../../infra/machine.ts'
import { rooms } from '../../infra/rooms.ts'
import { PATIENCE_MS_MAX, PLAN_PATIENCE_MS, PLAN_REVIEWS_MAX, REVIEW_LOSSES_MAX } from '../../shared/base/limits.ts'
import { throttledOf } from '../../shared/fleet/throttling.ts'
import { timingsOf } from '../../shared/fleet/timings.ts'

/** The validator has no types of its own. */
const validate = createRequire(import.meta.url)('asl-validator') as (
  definition: unknown,
  options: { checkArn: boolean; checkPaths: boolean },
) => { errorsText(): string }

const arns = {
  plan: 'arn:aws:lambda:us-east-1:000000000000:function:plan',
  admit: 'arn:aws:lambda:us-east-1:000000000000:function:admit',
  review: 'arn:aws:lambda:us-east-1:000000000000:function:review',
  conclude: 'arn:aws:lambda:us-east-1:000000000000:function:conclude',
}
const definition = machineDefinition(arns, 'aws')

interface NamedState {
  readonly name: string
  readonly state: State
}

/** Every state of the machine, with the states inside a Map. */
function statesOf(states: Readonly<Record<string, State>>): NamedState[] {
  return Object.entries(states).flatMap(([name, state]) => {
    const inner = state.ItemProcessor as { States: Record<string, State> } | undefined
    return [{ name, state }, ...(inner === undefined ? [] : statesOf(inner.States))]
  })
}

/** Every key and value inside a value, with the path to it. */
function entriesOf(value: unknown, path = ''): { path: string; key: string; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    { path: `${path}/${key}`, key, value: inner },
    ...entriesOf(inner, `${path}/${key}`),
  ])
}

const states = statesOf(definition.States)
const tasks = states.filter(({ state }) => state.Type === 'Task')
const pauses = states.filter(({ state }) => state.Type === 'Wait')

describe('the definition', () => {
  test('is valid in the States Language', () => {
    const result = validate(structuredClone(definition), { checkArn: true, checkPaths: true })
    expect(result.errorsText()).toBe('')
  })

  test('AW64: every task ends by itself', () => {
    expect(tasks.length).toBeGreaterThan(0)
    for (const { name, state } of tasks) expect(state.TimeoutSeconds, name).toBeGreaterThan(0)
  })

  test('a task without a token outlives its function: Lambda reports the failure', () => {
    for (const { name, state } of tasks.filter(({ state }) => String(state.Resource).endsWith(':invoke'))) {
      const { FunctionName } = state.Parameters as { FunctionName: string }
      const room = machineRooms.find((each) => arns[each] === FunctionName)
      expect(state.TimeoutSeconds, name).toBeGreaterThan(rooms[room ?? 'plan'].timeoutSeconds)
    }
  })

  test('the name of a state is unique in the whole machine', () => {
    const names = states.map(({ name }) => name)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('AW65: retries name only errors that the Lambda integration or the rooms raise', () => {
    const raised = [
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'Lambda.ClientExecutionTimeoutException',
      'Lambda.TooManyRequestsException',
      'Lambda.Unknown',
      'Runtime.ExitError',
      'Sandbox.Timedout',
      'retry',
      'lease_held',
    ]
    for (const { name, state } of tasks) {
      for (const { ErrorEquals } of state.Retry as { ErrorEquals: string[] }[]) {
        expect(raised, name).toEqual(expect.arrayContaining(ErrorEquals))
      }
    }
  })

  test('AW67: every invocation is repeated when Lambda throttles it, with full jitter', () => {
    for (const { name, state } of tasks) {
      const retries = state.Retry as { ErrorEquals: string[]; JitterStrategy?: string }[]
      const throttled = retries.find(({ ErrorEquals }) => ErrorEquals.includes('Lambda.TooManyRequestsException'))
      expect(throttled?.JitterStrategy, name).toBe('FULL')
    }
  })

  test('AW67: every other retry has full jitter too, except the wait for a head, whose length counts', () => {
    for (const { name, state } of tasks) {
      const retries = state.Retry as { ErrorEquals: string[]; JitterStrategy?: string }[]
      const regular = retries.filter(({ JitterStrategy }) => JitterStrategy !== 'FULL')
      expect(
        regular.map(({ ErrorEquals }) => ErrorEquals),
        name,
      ).toEqual(name === 'Plan' ? [['retry']] : [])
    }
  })

  test('every task inside a Map catches all further errors: an iteration never ends the rest', () => {
    const inner = states.flatMap(({ state }) => {
      const processor = state.ItemProcessor as { States: Record<string, State> } | undefined
      return processor === undefined ? [] : statesOf(processor.States)
    })
    const caught = inner.filter(({ state }) => state.Type === 'Task')
    expect(caught.map(({ name }) => name)).toEqual(['Admit', 'Review'])
    for (const { name, state } of caught) {
      expect((state.Catch as { ErrorEquals: string[] }[]).at(-1)?.ErrorEquals, name).toEqual(['States.ALL'])
    }
  })

  test('the retries for a head that GitHub does not show yet last about four minutes', () => {
    const [retry] = (definition.States.Plan?.Retry ?? []) as Record<string, number>[]
    const { IntervalSeconds = 0, BackoffRate = 1, MaxAttempts = 0, MaxDelaySeconds = 0 } = retry ?? {}
    const waits = Array.from({ length: MaxAttempts }, (_, index) =>
      Math.min(IntervalSeconds * BackoffRate ** index, MaxDelaySeconds),
    )
    const totalSeconds = waits.reduce((sum, wait) => sum + wait, 0)
    expect(totalSeconds).toBeGreaterThanOrEqual(180)
    expect(totalSeconds).toBeLessThanOrEqual(260)
  })

  test('the definition keeps to the subset that the local engine honours too', () => {
    const unknownFields = ['Assign', 'Arguments', 'Output', 'QueryLanguage', 'Heartbeat', 'ItemReader', 'ItemBatcher']
    for (const { path, key, value } of entriesOf(definition)) {
      expect(unknownFields.some((field) => key.startsWith(field)) || key.startsWith('Tolerated'), path).toBe(false)
      if (typeof value !== 'string') continue
      expect(value, path).not.toMatch(/^States\.(?!ALL$|Timeout$)/)
      expect(value, path).not.toContain('$$.State')
      expect(value, path).not.toContain('{%')
      if (value.startsWith('$$.Map.')) expect(path).toContain('/ItemSelector/')
    }
  })

  test('every Map runs inline and takes its width from the plan', () => {
    for (const { state } of states.filter(({ state }) => state.Type === 'Map')) {
      expect(state.ItemProcessor).toMatchObject({ ProcessorConfig: { Mode: 'INLINE' } })
      expect(state.MaxConcurrencyPath).toBe('$.plan.answer.ceiling')
    }
  })

  test('the states have the names of the documentation and the console', () => {
    expect(states.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...['Plan', 'PlanOutcome', 'ReviewMap', 'Admit', 'AdmitOutcome', 'Review', 'ReviewOutcome', 'ReviewDone'],
        ...['PlanPause', 'ReviewCrashed', 'ReviewPause', 'ReviewLost'],
        ...['AdjudicateOutcome', 'AdjudicateCrashed', 'AdjudicatePause'],
        ...['AdmitAdjudication', 'AdjudicationOutcome', 'Adjudicate', 'Conclude', 'ConcludeOutcome'],
        ...['Succeeded', 'Failed', 'Superseded', 'Held'],
      ]),
    )
  })
})

/** The number of throttles of one review, by a model that names no time, within its patience. */
function throttlesWithin(patienceMs: number): number {
  let [now, count] = [0, 0]
  for (let isGivenUp = false; !isGivenUp; count += 1) {
    const answer = { afterMs: 0, now, random: 0 }
    const throttled = throttledOf({ throttledSince: 0 }, answer, timingsOf(undefined, undefined, patienceMs))
    now = throttled.until
    isGivenUp = throttled.isGivenUp
  }
  return count
}

interface Called {
  readonly state: string
  readonly payload: Record<string, unknown>
}

type Answer = (payload: Record<string, unknown>, call: number) => unknown

class Named extends Error {
  constructor(name: string, message = name) {
    super(message)
    this.name = name
  }
}

const planned = { outcome: 'planned', ceiling: 2, reviews: ['first', 'second'], adjudication: 'adjudication' }
const granted = { outcome: 'granted', epoch: 1 }
const completed = { outcome: 'completed', findings: 0, blocking: 0 }

// A test of the definition proves its validity; one proof is enough.
const machine = new StateMachine(structuredClone(definition) as never, { validationOptions: { noValidate: true } })

/** Runs the machine with the given answers of the rooms, without waits before retries. */
async function run(answers: Partial<Record<string, Answer>> = {}) {
  const calls: Called[] = []
  const usual: Record<string, Answer> = {
    Plan: () => planned,
    Admit: () => granted,
    Review: () => completed,
    AdmitAdjudication: () => ({ outcome: 'not_needed' }),
    Adjudicate: () => completed,
    Conclude: () => ({ outcome: 'shown' }),
  }
  const handlers = tasks.map(({ name, state }) => {
    const answer = answers[name] ?? usual[name] ?? (() => undefined)
    const isAnsweredByToken = String(state.Resource).endsWith('.waitForTaskToken')
    const handler = (input: unknown) => {
      const { Payload } = input as { Payload: Record<string, unknown> }
      calls.push({ state: name, payload: Payload })
      const result = answer(Payload, calls.filter(({ state }) => state === name).length)
      return (isAnsweredByToken ? result : { StatusCode: 200, Payload: result }) as never
    }
    return [name, handler] as const
  })
  const execution = machine.run(
    { contract: 1, runId: 'run', attempt: 1 },
    {
      overrides: {
        taskResourceLocalHandlers: Object.fromEntries(handlers),
        waitTimeOverrides: Object.fromEntries(pauses.map(({ name }) => [name, 0])),
        retryIntervalOverrides: Object.fromEntries(tasks.map(({ name }) => [name, 0])),
      },
      context: { Execution: { Id: 'execution' }, Task: { Token: 'token' } },
    },
  )
  const entered: string[] = []
  let error: string | undefined
  for await (const event of execution.eventLogs) {
    if (event.type === 'StateEntered') entered.push(event.state.name)
    if (event.type === 'ExecutionFailed') error = event.Error
  }
  const output = error === undefined ? await execution.result : await execution.result.catch(() => undefined)
  return { output, error, calls, called: calls.map(({ state }) => state), last: entered.at(-1) }
}

describe('the way through', () => {
  test('every review is admitted, read and concluded, and nothing but identifiers travels', async () => {
    const { calls, last, output } = await run()
    expect(last).toBe('Succeeded')
    expect(calls.find(({ state }) => state === 'Plan')?.payload).toEqual({
      contract: 1,
      runId: 'run',
      attempt: 1,
      execution: 'execution',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
    const reviewed = calls.filter(({ state }) => state === 'Review').map(({ payload }) => payload)
    expect(reviewed).toEqual([
      { contract: 1, runId: 'run', attempt: 1, review: 'first', epoch: 1 },
      { contract: 1, runId: 'run', attempt: 1, review: 'second', epoch: 1 },
    ])
    expect(calls.find(({ state }) => state === 'Conclude')?.payload).toEqual({
      contract: 1,
      runId: 'run',
      attempt: 1,
      token: 'token',
    })
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThan(1_024)
  })

  test('IL3: a replaced worker goes back to Admit and works at the new epoch', async () => {
    const { calls, last } = await run({
      Plan: () => ({ ...planned, reviews: ['first'] }),
      Admit: (_payload, call) => ({ outcome: 'granted', epoch: call }),
      Review: (_payload, call) => {
        if (call === 1) throw new Named('stale_fence')
        return completed
      },
    })
    expect(last).toBe('Succeeded')
    expect(calls.filter(({ state }) => state === 'Review').map(({ payload }) => payload.epoch)).toEqual([1, 2])
  })

  test.each(['Lambda.Unknown', 'Runtime.ExitError', 'Sandbox.Timedout'])(
    'IL3: a worker that died (%s) is not called again; Admit hears at which epoch, and what Lambda said',
    async (error) => {
      const { calls, last } = await run({
        Plan: () => ({ ...planned, reviews: ['first'] }),
        Admit: (_payload, call) => ({ outcome: 'granted', epoch: call }),
        Review: ({ epoch }) => {
          if (epoch === 3) return completed
          throw new Named(error, `RequestId: worker-${epoch}`)
        },
      })
      expect(last).toBe('Succeeded')
      expect(calls.filter(({ state }) => state === 'Review').map(({ payload }) => payload.epoch)).toEqual([1, 2, 3])
      expect(calls.filter(({ state }) => state === 'Admit').map(({ payload }) => payload.lost)).toEqual([
        { epoch: 0, cause: '' },
        { epoch: 1, cause: 'RequestId: worker-1' },
        { epoch: 2, cause: 'RequestId: worker-2' },
      ])
    },
  )

  test('the death of a second reader is passed on in the same way, without the deaths of the reviews’ workers', async () => {
    const { calls, last } = await run({
      Plan: () => ({ ...planned, reviews: ['first'] }),
      Review: (_payload, call) => {
        if (call > 1) return completed
        throw new Named('Lambda.Unknown', 'of a review')
      },
      AdmitAdjudication: (_payload, call) => ({ outcome: 'granted', epoch: call }),
      Adjudicate: (_payload, call) => {
        if (call > 1) return completed
        throw new Named('Lambda.Unknown', 'of the second reading')
      },
    })
    expect(last).toBe('Succeeded')
    expect(calls.filter(({ state }) => state === 'AdmitAdjudication').map(({ payload }) => payload.lost)).toEqual([
      { epoch: 0, cause: '' },
      { epoch: 1, cause: 'of the second reading' },
    ])
  })

  test('IL3: a replaced worker’s Admit gets the cause of the last crash only, which does not touch the new epoch', async () => {
    const { calls } = await run({
      Plan: () => ({ ...planned, reviews: ['first'] }),
      Admit: (_payload, call) => ({ outcome: 'granted', epoch: call }),
      Review: ({ epoch }) => {
        if (epoch === 1) throw new Named('Lambda.Unknown', 'first')
        if (epoch === 2) throw new Named('stale_fence')
        return completed
      },
    })
    expect(calls.filter(({ state }) => state === 'Admit').map(({ payload }) => payload.lost)).toEqual([
      { epoch: 0, cause: '' },
      { epoch: 1, cause: 'first' },
      { epoch: 1, cause: 'first' },
    ])
  })

  test('a lost review ends neither the others nor the run', async () => {
    const { called, last } = await run({
      Review: (payload) => {
        if (payload.review === 'first') throw new Named('analyzer_crashed')
        return completed
      },
    })
    expect(called.filter((name) => name === 'Review')).toHaveLength(2)
    expect(last).toBe('Succeeded')
  })

  test('a task waits for a live lease of another worker', async () => {
    const { called, last } = await run({
      Plan: () => ({ ...planned, reviews: ['first'] }),
      Review: (_payload, call) => {
        if (call < 4) throw new Named('lease_held')
        return completed
      },
    })
    expect(called.filter((name) => name === 'Review')).toHaveLength(4)
    expect(called.filter((name) => name === 'Admit')).toHaveLength(1)
    expect(last).toBe('Succeeded')
  })

  test('L1: a review with a throttled model waits again, without a limit on the number and without a loss', async () => {
    const { calls, last } = await run({
      Plan: () => ({ ...planned, reviews: ['first'] }),
      Admit: (_payload, call) => ({ outcome: 'granted', epoch: call }),
      Review: (payload) => (Number(payload.epoch) < 8 ? { ...completed, outcome: 'parked' } : completed),
    })
    expect(calls.filter(({ state }) => state === 'Review').map(({ payload }) => payload.epoch)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ])
    expect(last).toBe('Succeeded')
  })

  test('J5: an adjudication with a throttled model waits again', async () => {
    const { called, last } = await run({
      AdmitAdjudication: (_payload, call) => ({ outcome: 'granted', epoch: call }),
      Adjudicate: (_payload, call) => (call < 3 ? { ...completed, outcome: 'parked' } : completed),
    })
    expect(called.filter((name) => name === 'Adjudicate')).toHaveLength(3)
    expect(last).toBe('Succeeded')
  })

  test('L2: the history of the longest patience stays below 25,000 events', () => {
    const rounds = throttlesWithin(PATIENCE_MS_MAX)
    // Choice: 2 events. Review: 5 (entered, scheduled, started, succeeded, exited). Admit: 6 (submitted too).
    const eventsPerRound = 2 * 2 + 5 + 6
    expect(rounds).toBeLessThanOrEqual(33)
    expect(PLAN_REVIEWS_MAX * rounds * eventsPerRound).toBeLessThan(25_000 - 5_000)
  })

  test('the history of reviews that lose every worker has room beside the longest patience', () => {
    // Choice, Pass and Wait: 2 events each. Review: 5. Admit: 6.
    const eventsPerRound = 3 * 2 + 5 + 6
    expect(PLAN_REVIEWS_MAX * REVIEW_LOSSES_MAX * eventsPerRound).toBeLessThan(5_000)
  })

  test('L2: the history of the longest wait for GitHub has room beside both', () => {
    const [retry] = (definition.States.Plan?.Retry ?? []) as Record<string, number>[]
    const tries = 1 + Number(retry?.MaxAttempts)
    // Choice and Wait: 2 events each. Plan: entered and exited, and for each try scheduled, started, failed.
    const perLimit = 2 * 2 + 2 + 3
    const perOutage = 2 + 2 + 3 * tries
    // The tries take three minutes at least (PL8), and a minute's pause follows each.
    const limits = (PLAN_PATIENCE_MS / 60_000) * perLimit
    const outages = (PLAN_PATIENCE_MS / 240_000) * perOutage
    const others = PLAN_REVIEWS_MAX * (throttlesWithin(PATIENCE_MS_MAX) * 15 + REVIEW_LOSSES_MAX * 17)
    expect(others + Math.max(limits, outages)).toBeLessThan(25_000)
  })

  test('L2: a plan that GitHub blocks waits on after the end of its retries', async () => {
    const [retry] = (definition.States.Plan?.Retry ?? []) as Record<string, number>[]
    const tries = 1 + Number(retry?.MaxAttempts)
    const { called, last } = await run({
      Plan: (_payload, call) => {
        if (call <= tries) throw new Named('retry')
        return call === tries + 1 ? { ...planned, outcome: 'wait' } : planned
      },
    })
    expect(called.filter((name) => name === 'Plan')).toHaveLength(tries + 2)
    expect(last).toBe('Succeeded')
  })

  test('a fault of the platform of some seconds does not cost a review all its losses', () => {
    const afterCrash = pauses.filter(({ name }) => name !== 'PlanPause')
    expect(afterCrash.map(({ name }) => name)).toEqual(['ReviewPause', 'AdjudicatePause'])
    for (const { state } of afterCrash) {
      expect(Number(state.Seconds) * (REVIEW_LOSSES_MAX - 1)).toBeGreaterThanOrEqual(20)
      expect(state.Seconds).toBeLessThanOrEqual(10)
    }
  })

  test('a review without a grant is not read', async () => {
    const { called, last } = await run({ Admit: () => ({ outcome: 'ended' }) })
    expect(called).not.toContain('Review')
    expect(last).toBe('Succeeded')
  })

  test('an adjudication is admitted like a review, comes back after a stale fence, and never ends the run', async () => {
    const { calls, last } = await run({
      AdmitAdjudication: (_payload, call) => ({ outcome: 'granted', epoch: call }),
      Adjudicate: (_payload, call) => {
        throw new Named(call === 1 ? 'stale_fence' : 'model_refused')
      },
    })
    const adjudicated = calls.filter(({ state }) => state === 'Adjudicate').map(({ payload }) => payload)
    expect(adjudicated.map(({ review, epoch }) => ({ review, epoch }))).toEqual([
      { review: 'adjudication', epoch: 1 },
      { review: 'adjudication', epoch: 2 },
    ])
    expect(last).toBe('Succeeded')
  })

  test.each([
    ['shown', 'Succeeded', ['Plan', 'Conclude']],
    ['superseded', 'Superseded', ['Plan']],
    ['held', 'Held', ['Plan']],
    ['failed', 'Failed', ['Plan']],
  ])('a plan that is %s ends at %s and reads nothing', async (outcome, end, called) => {
    const result = await run({ Plan: () => ({ outcome }) })
    expect(result.last).toBe(end)
    expect(result.called).toEqual(called)
  })

  test('the plan of an earlier call is executed again', async () => {
    const { called, last } = await run({
      Plan: () => ({ ...planned, outcome: 'replay' }),
      Admit: () => ({ outcome: 'completed' }),
    })
    expect(called.filter((name) => name === 'Admit')).toHaveLength(2)
    expect(last).toBe('Succeeded')
  })

  test.each([
    ['superseded', 'Superseded'],
    ['held', 'Held'],
    ['failed', 'Failed'],
    ['unheard_of', 'Failed'],
  ])('a conclusion that is %s ends at %s', async (outcome, end) => {
    expect((await run({ Conclude: () => ({ outcome }) })).last).toBe(end)
  })

  test('a failure of Plan or Conclude ends the execution with the error of the room', async () => {
    const failing: Answer = () => {
      throw new Named('dead')
    }
    for (const state of ['Plan', 'Conclude']) expect((await run({ [state]: failing })).error, state).toBe('dead')
  })
})
