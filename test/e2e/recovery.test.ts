/** Broken work is taken up again: nothing is lost, and nothing is posted or paid for twice. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FunctionError } from '../../infra/local/functions/functions.ts'
import { HEAD_VISIBLE_WITHIN_MS } from '../../shared/base/limits.ts'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'
import { action, route } from './wire.ts'

patientTests()

let muster: Muster
beforeAll(async () => {
  // Short, so that the sweeper comes every few seconds.
  muster = await startMuster({ model: true, leaseSeconds: 9 })
})
afterAll(() => muster?.close())

const runIdOf = async (pullRequest: TestPullRequest) => String((await muster.answered(pullRequest)).body.run)
const executionsOf = async (pullRequest: TestPullRequest) =>
  (await muster.aws.executions()).filter(({ name }) =>
    name?.startsWith(`${pullRequest.repository.owner}-${pullRequest.repository.name}-pr${pullRequest.number}-`),
  )
const reviewItems = (runId: string) => muster.aws.items(`RUN#${runId}`, 'REVIEW#')
const redeliver = async (pullRequest: TestPullRequest) => {
  const sent = muster.github.deliveries().findLast((one) => one.repository === pullRequest.repository.fullName)
  return muster.deliver(sent?.payload ?? '', { id: randomUUID() })
}
/** Once on GitHub, without a pending rest. */
function expectShownOnce(pullRequest: TestPullRequest): void {
  const { reviews, issueComments, checkRuns, labels } = muster.shown(pullRequest)
  expect(reviews.map(({ commitId, pending }) => [commitId, pending])).toEqual([[pullRequest.head, false]])
  expect(issueComments).toHaveLength(1)
  expect(checkRuns.flatMap(({ runs }) => runs.map(({ status }) => status))).toEqual(['completed'])
  expect(labels).toHaveLength(1)
}

/** The item of all halts, as an operator's change leaves it. */
const halts = { pk: 'HALT#main', sk: 'HALT' }
const halted = (repositoryId: number) => {
  const halt = { by: 'ops', why: 'incident', since: Date.now() }
  return muster.aws.put({ ...halts, scopes: { [`repository/${repositoryId}`]: halt }, version: 1 })
}
const lifted = () => muster.aws.put({ ...halts, scopes: {}, version: 2 })

describe('a throttled model', () => {
  it('L1: a review with a throttled model waits until the model reads; nothing fails, and no loss counts', async () => {
    muster.model.answer('patient_one', { status: 429, retryAfterSeconds: 1 })
    const repository = await muster.repository('patient')
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const patient_one = 1\n' })
    await muster.until('a throttled call', () => muster.model.callsAbout('patient_one').length > 0)
    muster.model.answer('patient_one', { findings: [] })
    const run = await muster.ended(pullRequest)
    expect(run).toMatchObject({ outcome: 'reviewed', verdict: 'pass', concludedWhole: true })
    const review = (await reviewItems(String(run.runId))).find(({ lens }) => lens === 'correctness')
    expect(review).toMatchObject({ state: 'completed', pool: 'model/led', throttledSince: expect.any(Number) })
    expect(review).not.toHaveProperty('losses')
    expectShownOnce(pullRequest)
  })
})

describe('a halt', () => {
  it('PL4: a push under a halt is answered and held, without judgement or post; after the lift the sweeper takes it up', async () => {
    const repository = await muster.repository('halted')
    await halted(repository.id)
    const pullRequest = await muster.open(repository, { 'src/h.ts': 'export const under_a_halt = 1\n' })
    const { status, body } = await muster.answered(pullRequest)
    expect([status, body.status]).toEqual([202, 'created'])
    const held = await muster.until('the run held', async () => {
      const run = await muster.run(String(body.run))
      return run?.state === 'held' && run
    })
    expect(held.reason).toMatchObject({ code: 'halted' })
    expect(await reviewItems(String(body.run))).toEqual([])
    expect(muster.model.callsAbout('under_a_halt')).toEqual([])
    const { reviews, issueComments, checkRuns, labels } = muster.shown(pullRequest)
    expect([reviews, issueComments, checkRuns.flatMap(({ runs }) => runs), labels]).toEqual([[], [], [], []])

    await lifted()
    expect(await muster.runEnded(String(body.run))).toMatchObject({ outcome: 'reviewed', attempt: 2, verdict: 'pass' })
    expectShownOnce(pullRequest)
  })

  it('RC4: the result of a lens that reads while a halt is set has no effect until the lift', async () => {
    const repository = await muster.repository('halted-late')
    const waiting = muster.model.hold('halted_late')
    const pullRequest = await muster.open(repository, { 'src/l.ts': 'export const halted_late = 1\n' })
    const runId = await runIdOf(pullRequest)
    await muster.until('the model asked', () => muster.model.callsAbout('halted_late').length > 0)
    await halted(repository.id)
    waiting.release()
    await muster.until('the run held', async () => (await muster.run(runId))?.state === 'held')
    expect(muster.shown(pullRequest).reviews).toEqual([])
    await lifted()
    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'reviewed' })
    expectShownOnce(pullRequest)
    // LE12: work completed under the halt is kept.
    expect(muster.model.callsAbout('halted_late')).toHaveLength(1)
  })
})

describe('a failed start', () => {
  it('LE4: the sweeper starts a written run without an execution, once', async () => {
    const fault = muster.wire.refuse(action('StartExecution'), { status: 500, body: { __type: 'InternalFailure' } })
    const pullRequest = await muster.open(await muster.repository('unstarted'), { 'src/u.ts': 'export const u = 1\n' })
    const { status, body } = await muster.answered(pullRequest)
    expect([status, body.status]).toEqual([202, 'created'])
    expect(fault.count).toBeGreaterThan(0)
    expect(await executionsOf(pullRequest)).toEqual([])
    fault.lift()
    expect(await muster.runEnded(String(body.run))).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(await executionsOf(pullRequest)).toHaveLength(1)
    expectShownOnce(pullRequest)
  })

  it('AW58: an existing execution with the same input counts as started', async () => {
    const exists = { __type: 'ExecutionAlreadyExists', message: 'it exists' }
    const fault = muster.wire.answerInstead(action('StartExecution'), { status: 400, body: exists }, 1)
    const pullRequest = await muster.open(await muster.repository('existing'), { 'src/e.ts': 'export const e = 1\n' })
    expect((await muster.answered(pullRequest)).status).toBe(202)
    expect(fault.count).toBe(1)
    const run = await muster.ended(pullRequest)
    expect(run).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(
      muster.lines.filter(({ text }) => text.includes('was not started') && text.includes(String(run.runId))),
    ).toEqual([])
    expect(await executionsOf(pullRequest)).toHaveLength(1)
  })

  it('LE4, RO10: after a conclusion with lost nudges the sweeper nudges post; the run is not executed again', async () => {
    const lost = muster.model.hold('nudge_lost')
    const pullRequest = await muster.open(await muster.repository('unnudged'), {
      'src/n.ts': 'export const nudge_lost = 1\n',
    })
    const runId = await runIdOf(pullRequest)
    await muster.until(
      'the check run in progress',
      () => muster.shown(pullRequest).checkRuns[0]?.runs[0]?.status === 'in_progress',
    )
    await muster.until('the model asked', () => muster.model.callsAbout('nudge_lost').length > 0)
    // Sent, by the queue's answer, and gone all the same.
    const fault = muster.wire.refuse(action('SendMessage'), { status: 500, body: { __type: 'InternalFailure' } })
    lost.release()
    await muster.until('the run concluded', async () => (await muster.run(runId))?.state === 'concluded')
    await muster.until('nudges that fail', () => fault.count > 3)
    expect(muster.shown(pullRequest).reviews).toEqual([])
    fault.lift()
    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expectShownOnce(pullRequest)
    await muster.until('the one execution succeeded', async () => {
      const statuses = (await executionsOf(pullRequest)).map(({ status }) => status)
      return statuses.join() === 'SUCCEEDED'
    })
    expect(muster.model.callsAbout('nudge_lost')).toHaveLength(1)
  })
})

describe('a service without capacity', () => {
  it.each([
    ['the claim', action('TransactWriteItems')],
    ['a place in the fleet', action('UpdateItem')],
    ['the documents', route('PUT', /\/sha256\//)],
    ['the answer to a task', action('SendTaskSuccess')],
  ])(
    'L2, RC6: %s is throttled for longer than the SDK tries: the work is done later, in the same attempt',
    async (_what, match) => {
      const repository = await muster.repository(`throttled-${randomUUID().slice(0, 8)}`)
      const throttled = { __type: 'ThrottlingException', message: 'Rate exceeded' }
      const fault = muster.wire.refuse(match, { status: 503, body: throttled }, 7)
      const pullRequest = await muster.open(repository, { 'src/t.ts': 'export const t = 1\n' })
      expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', attempt: 1, verdict: 'pass' })
      expect(fault.count).toBe(7)
      expectShownOnce(pullRequest)
    },
  )
})

describe('GitHub’s answers', () => {
  it.each([
    ['creating the pending review', /\/pulls\/\d+\/reviews$/],
    ['submitting it', /\/reviews\/\d+\/events$/],
    ['creating the summary comment', /\/issues\/\d+\/comments$/],
    ['creating the check run', /\/check-runs$/],
  ])('LE5, AW70: after a lost answer to %s Muster looks for the result; GitHub has it once', async (_what, path) => {
    const fault = muster.wire.loseAnswer(route('POST', path), 1)
    const repository = await muster.repository(`lost-${randomUUID().slice(0, 8)}`)
    const pullRequest = await muster.open(repository, { 'src/g.ts': 'export const g = 1\n' })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(fault.count).toBe(1)
    expectShownOnce(pullRequest)
  })

  it('LE14: an accepted review is not marked as said until GitHub shows the review', async () => {
    // A lagging replica: every list of reviews stays empty.
    const fault = muster.wire.refuse(route('GET', /\/pulls\/\d+\/reviews(\?|$)/), { status: 200, body: [] })
    const pullRequest = await muster.open(await muster.repository('lagging'), { 'src/l.ts': 'export const lag = 1\n' })
    const runId = await runIdOf(pullRequest)
    await muster.until('the review submitted', () => muster.shown(pullRequest).reviews.some(({ pending }) => !pending))
    await muster.until('a read-back that shows nothing', () =>
      muster.lines.some(({ text }) => text.includes('not shown yet') && text.includes(runId)),
    )
    const [message] = await muster.aws.items(`PR#${pullRequest.repository.id}#${pullRequest.number}`, 'MESSAGE#')
    expect(message).toMatchObject({ state: 'owed' })
    expect((await muster.run(runId))?.state).toBe('concluded')
    fault.lift()
    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'reviewed' })
    expectShownOnce(pullRequest)
  })

  it('D15: an unreadable list is unknown, not empty: nothing is written meanwhile', async () => {
    const fault = muster.wire.refuse(route('GET', /\/issues\/\d+\/comments(\?|$)/), {
      status: 500,
      body: { message: 'Server Error' },
    })
    const pullRequest = await muster.open(await muster.repository('unreadable'), { 'src/r.ts': 'export const r = 1\n' })
    const runId = await runIdOf(pullRequest)
    await muster.until('the review said', () => muster.shown(pullRequest).reviews.some(({ pending }) => !pending))
    await muster.until('some reads that fail', () => fault.count > 2)
    expect(muster.shown(pullRequest).issueComments).toEqual([])
    fault.lift()
    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'reviewed' })
    expectShownOnce(pullRequest)
  })
})

describe('a dying execution', () => {
  it('LE12, LE16: the completed reviews of its lenses are kept; the head delivered again is the same run, next attempt', async () => {
    const lines = (name: string) =>
      Array.from({ length: 1_000 }, (_, index) => `export const ${name}_${index} = ${index}\n`).join('')
    const stuck = muster.model.hold('second_part_999')
    const pullRequest = await muster.open(await muster.repository('dying'), {
      'src/one.ts': lines('first_part'),
      'src/two.ts': lines('second_part'),
    })
    const runId = await runIdOf(pullRequest)
    await muster.until('four reviews completed and one at work', async () => {
      const states = (await reviewItems(runId)).map(({ state }) => state)
      return states.filter((state) => state === 'completed').length === 4 && states.includes('leased')
    })
    const [execution] = await executionsOf(pullRequest)
    await muster.aws.stopExecution(execution?.executionArn ?? '')
    const failed = await muster.runEnded(runId)
    expect(failed).toMatchObject({ outcome: 'failed', attempt: 1, reason: { code: 'execution_failed' } })
    await muster.until(
      'the check run completed',
      () => muster.shown(pullRequest).checkRuns[0]?.runs[0]?.status === 'completed',
    )
    // PR3: never red, never green.
    expect(muster.shown(pullRequest).checkRuns[0]?.runs).toMatchObject([{ conclusion: 'neutral' }])
    stuck.release()

    const answer = await redeliver(pullRequest)
    expect(answer.body).toMatchObject({ status: 'raised', run: runId, attempt: 2 })
    expect(await muster.runEnded(runId, 2)).toMatchObject({ outcome: 'reviewed', verdict: 'pass' })
    expect(muster.model.callsAbout('first_part_999')).toHaveLength(1)
    // Asked again, unless the late answer was stored before its worker learned of the replacement.
    expect(muster.model.callsAbout('second_part_999').length).toBeLessThanOrEqual(2)
    expectShownOnce(pullRequest)
  })
})

describe('a worker that Lambda reports dead', () => {
  /** The next worker that begins a review of this lens: Step Functions gets a crash at the function's call. */
  function callNextWorkerDead(lens: string): (owner: string) => void {
    const { functions, assembly } = muster.stack
    const { invoke } = functions
    const crash = Promise.withResolvers<never>()
    const arn = assembly.functions.find(({ name }) => name === 'review')?.arn
    functions.invoke = (arnOrName, event, signal) => {
      const answer = invoke(arnOrName, event, signal)
      if (arnOrName !== arn || !(event as { review: string }).review.includes(`/${lens}/`)) return answer
      functions.invoke = invoke
      return Promise.race([answer, crash.promise])
    }
    return (owner) => {
      const message = `RequestId: ${owner} Error: Runtime exited with error: signal: killed`
      crash.reject(new FunctionError('Runtime.ExitError', message))
    }
  }

  it('IL3: a living worker with a lease is replaced after Lambda’s report; its later results change nothing', async () => {
    const both = muster.model.hold('called_dead')
    const callDead = callNextWorkerDead('correctness')
    const pullRequest = await muster.open(await muster.repository('replaced'), {
      'src/d.ts': 'export const called_dead = 1\n',
    })
    const runId = await runIdOf(pullRequest)
    const review = async () => (await reviewItems(runId)).find(({ lens }) => lens === 'correctness')
    await muster.until('the model asked', () => muster.model.callsAbout('called_dead').length === 1)
    const first = await review()
    expect(first).toMatchObject({ state: 'leased', epoch: 1 })

    callDead(String(first?.owner))
    await muster.until('the model asked by another one', () => muster.model.callsAbout('called_dead').length === 2)
    const second = await review()
    expect(second).toMatchObject({ state: 'leased', epoch: 2, losses: 1 })
    expect(second?.owner).not.toBe(first?.owner)
    both.release()

    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(await review()).toMatchObject({ state: 'completed', epoch: 2, owner: second?.owner })
    expectShownOnce(pullRequest)
  })
})

describe('a batch of the queue', () => {
  const record = (group: string, body: unknown) => ({
    messageId: randomUUID(),
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: { MessageGroupId: group },
  })
  const nudgeOf = (runId: string) => ({ contract: 1, repositoryId: 1, number: 1, runId })
  const invoke = async (room: string, records: readonly { messageId: string }[]) => {
    const answer = (await muster.stack.functions.invoke(room, { Records: records })) as {
      batchItemFailures: { itemIdentifier: string }[]
    }
    return answer.batchItemFailures.map(({ itemIdentifier }) =>
      records.findIndex(({ messageId }) => messageId === itemIdentifier),
    )
  }
  const unknown = nudgeOf('0'.repeat(64))

  it.each(['post', 'command'])(
    'AW46, AW50: %s reports what it did not do and the rest of that group; other groups go on',
    async (room) => {
      const good = room === 'post' ? unknown : { contract: 1, repositoryId: 1, number: 1, cause: 'closed:1' }
      const failures = await invoke(room, [record('a', 'no JSON'), record('b', good), record('a', good)])
      expect(failures).toEqual([0, 2])
      expect(await invoke(room, [record('a', good), record('a', 'no JSON'), record('a', good)])).toEqual([1, 2])
    },
  )

  it('AW49: the same record again on a warm instance is worked on again', async () => {
    const pullRequest = await muster.open(await muster.repository('warm'), { 'src/w.ts': 'export const w = 1\n' })
    const { runId } = await muster.ended(pullRequest)
    const posted = () => muster.lines.filter(({ room, text }) => room === 'post' && text.includes(String(runId))).length
    const before = posted()
    const again = record('a', nudgeOf(String(runId)))
    for (const times of [1, 2]) {
      expect(await invoke('post', [again])).toEqual([])
      await muster.until('the line of this invocation', () => posted() >= before + times)
    }
    // AW31, AW55: and posts nothing twice.
    expectShownOnce(pullRequest)
  })

  it('AW47: a missing repository is acknowledged and recorded, not tried for ever', async () => {
    const gone = await muster.open(await muster.repository('going'), { 'src/x.ts': 'export const x = 1\n' })
    const { runId } = await muster.ended(gone)
    const pr = `PR#${gone.repository.id}#${gone.number}`
    const { generation_summary_main: shown } = (await muster.aws.item(pr, 'SHOWN')) ?? {}
    const generation = Number(shown) + 1
    const fault = muster.wire.refuse(route('GET', /\/repos\/acme\/going\//), {
      status: 404,
      body: { message: 'Not Found' },
    })
    await muster.aws.set(pr, 'SHOWN', { generation_summary_main: generation })
    // Old enough that GitHub must know the head by now.
    await muster.aws.set(`RUN#${runId}`, 'RUN', { acceptedAt: Date.now() - HEAD_VISIBLE_WITHIN_MS })
    expect(await invoke('post', [record('a', nudgeOf(String(runId)))])).toEqual([])
    fault.lift()
    const after = await muster.aws.item(pr, 'SHOWN')
    const refused = { generation, lastError: expect.stringContaining('github_not_found') }
    expect(after).toMatchObject({ shown_summary_main: refused })
    expect(after).not.toHaveProperty('dueAt')
  })
})
