/** The real machine in virtual time: the length and reason of its waits, and the harmlessness of late answers. */
import { describe, expect, test } from 'vitest'
import { rooms } from '../../../infra/rooms.ts'
import { type Call, openMachine } from './machine-kit.ts'
import { definition } from './machine-rooms.ts'

const input = { contract: 1, runId: 'run', attempt: 1 }
const second = 1_000
const hour = 3_600 * second
const plan = { outcome: 'planned', ceiling: 1, reviews: ['only'], adjudication: 'adjudication' }
const failure = (error: string) => ({ error, cause: '' })

/** Waits between calls, in ms. */
function delays(calls: readonly Call[]): number[] {
  return calls.slice(1).map(({ atMs }, index) => atMs - (calls[index]?.atMs ?? 0))
}

/** One room fails as given, every other room answers as usual; both at once. */
function openFailing(failing: string, error: string, drawn: number) {
  return openMachine(definition, {
    drawn,
    respond(call) {
      if (call.room === failing) call.done(failure(error))
      else if (call.room === 'plan') call.done({ ok: plan })
    },
  })
}

describe('waits before a retry', () => {
  test('a retry for an invisible head comes after 5, 7.5, 11.25, 16.9, 25.3 and then 30 s, whatever the jitter', () => {
    const { queue, start, callsOf } = openFailing('plan', 'retry', 0)
    const execution = start(input)
    const round = [5_000, 7_500, 11_250, 16_875, 25_313, ...new Array(6).fill(30_000)]

    queue.run(queue.elapsedMs + hour / 4)

    // Plan gives up by its own clock; in this test Plan never gives up.
    const twice = [...round, 60_000, ...round]
    expect(delays(callsOf('plan')).slice(0, twice.length)).toEqual(twice)
    expect(execution).toMatchObject({ status: 'RUNNING' })
  })

  test('AW67: a retry with full jitter waits its drawn part of 2, 4, 8, 16, 32, 60 s', () => {
    for (const drawn of [0, 0.5, 0.75]) {
      const { queue, start, callsOf } = openFailing('plan', 'Lambda.TooManyRequestsException', drawn)
      start(input)

      queue.run()

      expect(delays(callsOf('plan'))).toEqual([2, 4, 8, 16, 32, 60].map((seconds) => seconds * second * drawn))
    }
  })

  test('retries of a visit do not count retries of an earlier visit to the same state', () => {
    const { queue, request, start, callsOf } = openFailing('review', 'lease_held', 0.5)
    const execution = start(input)
    for (const epoch of [1, 2]) {
      const [open] = execution.openTokens()
      request('SendTaskSuccess', { taskToken: open?.token, output: JSON.stringify({ outcome: 'granted', epoch }) })
      queue.run(queue.elapsedMs + hour)
    }

    const perEpoch = [1, 2].map((epoch) => callsOf('review').filter(({ payload }) => payload.epoch === epoch))

    for (const calls of perEpoch) {
      expect(delays(calls)).toEqual([5_000, 7_500, 11_250, 16_875, 25_313, 30_000, 30_000])
    }
    expect(execution.entered.get('Review')).toBe(2)
    expect(execution.current()).toEqual(['ReviewMap', 'Admit'])
  })
})

describe('waits for a token', () => {
  test('AW64: Admit’s wait ends after 6 h: the review is lost, the run is not', () => {
    const { queue, request, start } = openMachine(definition, {
      respond: ({ room, done }) => room === 'plan' && done({ ok: plan }),
    })
    const execution = start(input)
    const [open] = execution.openTokens()
    const taskToken = open?.token
    expect(open).toMatchObject({ state: 'Admit', deadline: execution.startedAt + 6 * hour })

    queue.run(6 * hour - 1)
    expect(execution.current()).toEqual(['ReviewMap', 'Admit'])
    expect(request('SendTaskHeartbeat', { taskToken })).toEqual({})
    queue.run(6 * hour)

    expect(execution.current()).toEqual(['AdmitAdjudication'])
    expect(execution.entered.get('ReviewLost')).toBe(1)
    for (const [action, body] of [
      ['SendTaskSuccess', { output: '{}' }],
      ['SendTaskFailure', {}],
      ['SendTaskHeartbeat', {}],
    ] as const) {
      expect(request(action, { taskToken, ...body })).toEqual({ error: 'TaskTimedOut' })
    }
  })

  test('Conclude’s wait ends after 24 h and ends the execution', () => {
    const respond = ({ room, done }: Call): void => done({ ok: room === 'plan' ? { outcome: 'shown' } : null })
    const { queue, request, start } = openMachine(definition, { respond })
    const execution = start(input)
    const [open] = execution.openTokens()

    queue.run(24 * hour - 1)
    expect([execution.status, execution.current()]).toEqual(['RUNNING', ['Conclude']])
    queue.run(24 * hour)

    expect(execution).toMatchObject({
      status: 'FAILED',
      error: 'States.Timeout',
      stoppedAt: execution.startedAt + 24 * hour,
    })
    expect(request('SendTaskSuccess', { taskToken: open?.token, output: '{}' })).toEqual({ error: 'TaskTimedOut' })
  })

  test('a token accepts an answer until its last ms, and is dead at the deadline even if the timer is late', () => {
    for (const [elapsedMs, answer] of [
      [24 * hour - 1, {}],
      [24 * hour, { error: 'TaskTimedOut' }],
    ] as const) {
      const answers: unknown[] = []
      const opened = openMachine(definition, {
        respond: ({ room, done }) => room === 'plan' && done({ ok: { outcome: 'shown' } }),
      })
      // The answer is scheduled before the task's own timer, and so comes first in the same ms.
      opened.queue.after(elapsedMs, () => {
        const taskToken = opened.callsOf('conclude')[0]?.payload.token
        answers.push(opened.request('SendTaskSuccess', { taskToken, output: '{"outcome":"shown"}' }))
      })
      opened.start(input)

      opened.queue.run()

      expect(answers).toEqual([answer])
    }
  })
})

describe('late answers', () => {
  /** An execution whose first review is under way. */
  function openInReview() {
    const opened = openMachine(definition, { respond: ({ room, done }) => room === 'plan' && done({ ok: plan }) })
    const execution = opened.start(input)
    const grant = (epoch: number) => {
      const [open] = execution.openTokens()
      opened.request('SendTaskSuccess', {
        taskToken: open?.token,
        output: JSON.stringify({ outcome: 'granted', epoch }),
      })
    }
    grant(1)
    return { ...opened, execution, grant }
  }

  test('a late answer from a review that was given up changes nothing, however often repeated', () => {
    const { queue, callsOf, execution, grant } = openInReview()
    queue.run((rooms.review.timeoutSeconds + 30) * second)
    expect(execution.current()).toEqual(['ReviewMap', 'Admit'])
    const [first] = callsOf('review')
    expect(first?.isCancelled).toBe(true)

    first?.done({ ok: { outcome: 'completed' } })
    first?.done(failure('stale_fence'))
    expect(execution.current()).toEqual(['ReviewMap', 'Admit'])
    grant(2)
    first?.done({ ok: { outcome: 'completed' } })
    expect(execution.current()).toEqual(['ReviewMap', 'Review'])
    callsOf('review')[1]?.done({ ok: { outcome: 'completed' } })

    expect(execution.current()).toEqual(['AdmitAdjudication'])
    expect(execution.entered.get('ReviewDone')).toBe(1)
  })

  test('an answer sent twice counts once', () => {
    const { callsOf, execution } = openInReview()
    const [review] = callsOf('review')

    review?.done({ ok: { outcome: 'completed' } })
    review?.done(failure('stale_fence'))
    review?.done({ ok: { outcome: 'completed' } })

    expect(execution.current()).toEqual(['AdmitAdjudication'])
    expect(execution.entered.get('AdmitAdjudication')).toBe(1)
  })

  test('the end of a function after the token’s answer changes nothing', () => {
    const { callsOf, execution } = openInReview()
    const [admit] = callsOf('admit')

    expect(admit?.isCancelled).toBe(true)
    admit?.done(failure('Lambda.Unknown'))

    expect(execution.current()).toEqual(['ReviewMap', 'Review'])
  })

  test('an answer after a stop changes nothing, and no event of the execution remains', () => {
    const { queue, request, callsOf, execution } = openInReview()

    request('StopExecution', { executionArn: execution.arn, error: 'superseded' })
    const before = execution.lines.length
    callsOf('review')[0]?.done({ ok: { outcome: 'completed' } })

    expect(execution).toMatchObject({ status: 'ABORTED', error: 'superseded' })
    expect(execution.lines).toHaveLength(before)
    expect([callsOf('review')[0]?.isCancelled, execution.current(), queue.waiting]).toEqual([true, [], 0])
  })

  test('a late answer before a retry changes nothing, and a stop ends the wait for the retry', () => {
    const { queue, request, callsOf, execution } = openInReview()
    const [review] = callsOf('review')

    review?.done(failure('lease_held'))
    review?.done({ ok: { outcome: 'completed' } })
    expect(execution.current()).toEqual(['ReviewMap', 'Review'])
    request('StopExecution', { executionArn: execution.arn })
    queue.run()

    expect(callsOf('review')).toHaveLength(1)
  })
})
