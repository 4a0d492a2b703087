/** The review room over the real ledger: what it writes, when it stops, and what becomes of a result that it couldn't report. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { takeUp } from '../../../functions/sweep/take-up.ts'
import { openLog } from '../../../shared/aws/log.ts'
import { closePool, handOn, slotOf } from '../../../shared/coordinator/hand-on.ts'
import { getDocument, putDocument } from '../../../shared/documents/documents.ts'
import { Refused, Retry, StaleFence } from '../../../shared/errors.ts'
import { dueKeys, readDue } from '../../../shared/ledger/due.ts'
import { readFleet } from '../../../shared/ledger/fleet.ts'
import { liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { readResources, resourceIn } from '../../../shared/ledger/resource.ts'
import { completeReview, leaseReview, takeBack } from '../../../shared/ledger/review.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Lens, LensInput, LensOutput } from '../../../shared/lens.ts'
import { CONTRACT, WORK_REMAINING_MIN_MS, WORK_RESERVE_MS } from '../../../shared/limits.ts'
import type { Plan } from '../../../shared/plan.ts'
import { type Review, reviewIdOf } from '../../../shared/review.ts'
import type { CheckRunResource } from '../../../shared/shown.ts'
import { about, admitted, asked, FLEET, heldParts, stored } from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, wantedReview } from '../../shared/samples.ts'

type Handler = typeof import('../../../functions/review/handler.ts').handler

const NOTHING: LensOutput = { findings: [], coverage: [] }
const ANSWERED: LensOutput = { ...NOTHING, usage: { model: 'a', inputTokens: 1, outputTokens: 1 } }
const SCOPE = `repository/${repository.id}` as const

/** How often a lens was asked to read, and what it does while it reads. */
let readings = 0
let whileReading: (input: LensInput) => Promise<unknown>
let said: LensOutput
const lens: Lens = async (input) => {
  readings += 1
  await whileReading(input)
  return said
}
vi.mock('../../../functions/review/lenses/index.ts', () => ({ lensOf: () => Promise.resolve(lens) }))

let world: World
beforeEach(async () => {
  world = await startWorld()
  world.now = Date.now()
  readings = 0
  whileReading = () => Promise.resolve()
  said = NOTHING
  Object.assign(process.env, {
    TABLE_NAME: world.ledger.table,
    DOCUMENTS_BUCKET: 'documents',
    MODELS_SECRET_ID: 'models',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  })
  await attemptRuns(1)
})
afterEach(async () => {
  delete process.env.LEASE_SECONDS
  await world.close()
})

/** The run of the reviews here runs, at that attempt, with a plan of one review. */
async function attemptRuns(attempt: number): Promise<void> {
  const { ledger, now, ending } = world
  const reviews = [{ lens: 'secrets' as const, part: 0, paths: [] }]
  const plan = await putDocument(ending.documents, {
    reviews,
    files: [],
    texts: {},
    openFindings: [],
  } satisfies Partial<Plan>)
  const options = { deliveryId: `d${attempt}`, writer: 'w', now, signal: AbortSignal.timeout(8_000) }
  await acceptRun(ledger, requestOf(), options)
  const run = await readRun(ledger, requestOf().runId)
  if (!run) throw new Error('Expected the run to be stored, found none')
  const running = { state: 'running', attempt, plan, planKey: wantedReview(0).planKey } as const
  expect(await updateRun(ledger, run, running, { now })).toBeDefined()
}

/** A fresh container of the room does the granted review. */
async function work(review: Review, remainingMs: readonly number[] = [900_000]) {
  vi.resetModules()
  const { handler } = (await import('../../../functions/review/handler.ts')) as { handler: Handler }
  const left = [...remainingMs]
  const { runId, attempt, epoch } = review
  return handler(
    { contract: CONTRACT, runId, attempt, review: reviewIdOf(review), epoch },
    {
      awsRequestId: `worker-${epoch}`,
      getRemainingTimeInMillis: () => (left.length > 1 ? left.shift() : left[0]) ?? 0,
    },
  )
}

/** Its worker is lost: taken back after its lease's end, and admitted again. */
async function again(): Promise<Review> {
  const review = await stored(world, 0)
  await takeBack(world.ledger, review, (review.until ?? 0) + 1)
  await handOn(world.coordinator, [slotOf(review)])
  return admitted(world, 0, { token: 'again-0' })
}

/** Everything that is due in a while, taken up as the sweeper does. */
async function sweepLater(): Promise<void> {
  world.now += 10 * world.ledger.timings.reviewLeaseMs
  for (const key of await dueKeys(world.ledger, world.now)) {
    const item = await readDue(world.ledger, key, world.now)
    if (item && item.kind !== 'run')
      await takeUp({ ...world.ending, inbox: world.ending.outbox, log: openLog('sweep') }, item)
  }
}

describe('a review', () => {
  it('is read, stored, completed, and its place handed on', async () => {
    const review = await admitted(world, 0)
    world.wire.passed.length = 0
    expect(await work(review)).toEqual({ outcome: 'completed', findings: 0, blocking: 0 })
    const writes = world.wire.passed.filter(({ operation }) => /^(Put|Update|Delete)Item$/.test(operation))
    expect(writes).toHaveLength(3) // the lease, the completion, the fleet
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', owner: 'worker-1', findings: 0 })
    expect(await heldParts(world)).toEqual([])
  })

  it('AW28: too little time left: nothing is written', async () => {
    const review = await admitted(world, 0)
    await expect(work(review, [WORK_REMAINING_MIN_MS - 1])).rejects.toMatchObject({ code: 'deadline_too_near' })
    expect(await stored(world, 0)).toEqual(review)
  })

  it('RC1: of another run is refused, and neither run’s review is touched', async () => {
    const review = await admitted(world, 0)
    const before = await world.items()
    const { handler } = (await import('../../../functions/review/handler.ts')) as { handler: Handler }
    const input = { contract: CONTRACT, runId: 'f'.repeat(64), attempt: 1, review: reviewIdOf(review), epoch: 1 }
    const invocation = { awsRequestId: 'w', getRemainingTimeInMillis: () => 900_000 }
    await expect(handler(input, invocation)).rejects.toMatchObject({ code: 'unknown_review' })
    expect(await world.items()).toEqual(before)
  })

  it('whose lens hangs ends before the function does, with a reason, and its place is free', async () => {
    whileReading = () => new Promise(() => undefined)
    const review = await admitted(world, 0)
    expect(await work(review, [WORK_REMAINING_MIN_MS, WORK_RESERVE_MS + 1])).toMatchObject({ outcome: 'failed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'failed', reason: { code: 'deadline_too_near' } })
    expect(await heldParts(world)).toEqual([])
  })

  it('RC6: whose place can’t be freed for throttling stands; the sweeper frees the place', async () => {
    const review = await admitted(world, 0)
    const stop = world.wire.refuse(about('UpdateItem', FLEET), 'ProvisionedThroughputExceededException')
    expect(await work(review)).toMatchObject({ outcome: 'completed' })
    stop()
    expect(await stored(world, 0)).toMatchObject({ state: 'completed' })
    expect(await heldParts(world)).toEqual([0])
    await sweepLater()
    expect(await heldParts(world)).toEqual([])
  })
})

describe('a lease that is lost', () => {
  const lose = async () => takeBack(world.ledger, await stored(world, 0), Date.now() + 3_600_000)

  it('LE2, RC5, IL3: the late worker gets stale_fence and changes nothing; the review is done once, and paid for once', async () => {
    whileReading = lose
    await expect(work(await admitted(world, 0))).rejects.toMatchObject({
      name: 'stale_fence',
      message: new StaleFence().message,
    })
    expect(await stored(world, 0)).toMatchObject({ state: 'planned', epoch: 2 })
    expect(await stored(world, 0)).not.toHaveProperty('result')
    await handOn(world.coordinator, [slotOf(await stored(world, 0))])
    expect(await work(await admitted(world, 0, { token: 'again-0' }))).toMatchObject({ outcome: 'completed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 2, owner: 'worker-2' })
    expect(readings).toBe(1)
  })

  it('AW38: its lens is told by its signal, and nothing more is written', async () => {
    process.env.LEASE_SECONDS = '3'
    whileReading = async ({ signal }) => {
      await lose()
      world.wire.passed.length = 0
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    await expect(work(await admitted(world, 0))).rejects.toMatchObject({ name: 'stale_fence' })
    const writes = world.wire.passed.filter(({ operation }) => /^(Put|Update|Delete)Item$/.test(operation))
    expect(writes).toHaveLength(1) // the heartbeat that was refused
    whileReading = () => Promise.resolve()
    await handOn(world.coordinator, [slotOf(await stored(world, 0))])
    await work(await admitted(world, 0, { token: 'again-0' }))
    expect(readings).toBe(2) // the first said nothing, so nothing was there to be found
  })
})

describe('a result that was stored', () => {
  it('AW26: and could not be reported is not made again', async () => {
    const review = await admitted(world, 0)
    const stop = world.wire.refuse(
      ({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('"completed"'),
      'ValidationException',
    )
    await expect(work(review)).rejects.toThrow()
    stop()
    expect(await stored(world, 0)).toMatchObject({ state: 'leased', epoch: 1 })
    expect(await work(await again())).toMatchObject({ outcome: 'completed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 2 })
    expect(readings).toBe(1)
  })

  it('RC4: under a halt has no effect, and is found again when the halt is lifted', async () => {
    whileReading = () => setHalt(world.ledger, { scope: SCOPE, by: 'm', why: 'w', since: 1 })
    expect(await work(await admitted(world, 0))).toMatchObject({ outcome: 'held' })
    expect(await stored(world, 0)).toMatchObject({ state: 'ended', epoch: 2 })
    expect(await stored(world, 0)).not.toHaveProperty('result')
    expect(await heldParts(world)).toEqual([])
    await liftHalt(world.ledger, SCOPE)
    await attemptRuns(2)
    expect(await work(await admitted(world, 0, { attempt: 2, token: 'again-0' }))).toMatchObject({
      outcome: 'completed',
    })
    expect(readings).toBe(1)
  })

  it('RC4: a result that was recorded before the halt stands under it', async () => {
    await work(await admitted(world, 0))
    await setHalt(world.ledger, { scope: SCOPE, by: 'm', why: 'w', since: 1 })
    await expect(work({ ...(await stored(world, 0)) })).rejects.toMatchObject({ name: 'stale_fence' })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 1 })
  })
})

describe('an Admit that comes again while a worker works', () => {
  it('is told when that one completes, and its token is gone', async () => {
    whileReading = () => asked(world, 0, { token: 'again-0' })
    await work(await admitted(world, 0))
    expect(world.answers.at(-1)).toEqual({ token: 'again-0', output: { outcome: 'completed', epoch: 1 } })
    const left = await stored(world, 0)
    expect(left).not.toHaveProperty('token')
    expect(await dueKeys(world.ledger, Number.MAX_SAFE_INTEGER)).not.toContainEqual(
      expect.objectContaining({ sk: expect.stringContaining('REVIEW#') }),
    )
  })

  it('AW44: is told by the sweeper, if that one dies between completing and telling', async () => {
    const review = await admitted(world, 0)
    const lease = { epoch: 1, owner: 'dies' }
    await leaseReview(world.ledger, review, { ...lease, now: world.now })
    await asked(world, 0, { token: 'again-0' })
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    expect(await completeReview(world.ledger, review, lease, outcome)).toEqual({ kind: 'completed', token: 'again-0' })
    await sweepLater()
    expect(world.answers.at(-1)).toEqual({ token: 'again-0', output: { outcome: 'completed', epoch: 1 } })
    expect(await stored(world, 0)).not.toHaveProperty('token')
    const told = world.answers.length
    await sweepLater()
    expect(world.answers).toHaveLength(told)
    expect((await readRun(world.ledger, review.runId))?.state).toBe('running')
  })
})

describe('a throttled model', () => {
  const POOL = 'model/a'
  const MINUTE_MS = 60_000
  const throttle = (afterMs = 20_000) => {
    whileReading = () => Promise.reject(new Retry('model_throttled', 'Too many requests.', afterMs))
  }
  const answers = () => {
    whileReading = () => Promise.resolve()
    said = ANSWERED
  }
  const admittedTo = (part: number, changes: Partial<Review> = {}) =>
    admitted(world, part, { pool: POOL, token: `token-${part}-${world.answers.length}`, ...changes })
  const closed = async () => (await readFleet(world.ledger)).closed[POOL]
  const run = () => readRun(world.ledger, wantedReview(0).runId)
  async function shown(): Promise<CheckRunResource | undefined> {
    const pullRequest = { repositoryId: repository.id, number: requestOf().number }
    const resources = await readResources(world.ledger, pullRequest)
    const resource = resourceIn(resources, { kind: 'check_run', key: requestOf().head })
    return resource && getDocument<CheckRunResource>(world.ending.documents, resource.document)
  }

  it('L1: parks the review: no loss, no result, its place is free and its pool closed for as long as was asked', async () => {
    throttle()
    const before = Date.now()
    expect(await work(await admittedTo(0))).toEqual({ outcome: 'parked', findings: 0, blocking: 0 })
    const review = await stored(world, 0)
    expect(review).toMatchObject({ state: 'planned', epoch: 2, pool: POOL, throttledSince: expect.any(Number) })
    expect(review).not.toHaveProperty('losses')
    expect(review).not.toHaveProperty('owner')
    expect(await heldParts(world)).toEqual([])
    const { since = 0, until = 0 } = (await closed()) ?? {}
    expect(until - since).toBeGreaterThanOrEqual(20_000)
    expect(until - since).toBeLessThanOrEqual(22_000)
    expect(since).toBeGreaterThanOrEqual(before)
  })

  it('L1: a parked review waits, and its probe’s answer opens the pool before its place is given up', async () => {
    throttle()
    await work(await admittedTo(0))
    const waits = await admittedTo(0)
    expect(waits.state).toBe('waiting')
    expect((await admittedTo(1)).state).toBe('waiting')
    world.now = ((await closed())?.until ?? 0) + 1
    await handOn(world.coordinator)
    expect(await heldParts(world)).toEqual([0])
    answers()
    expect(await work(await stored(world, 0))).toMatchObject({ outcome: 'completed' })
    expect(await closed()).toBeUndefined()
    expect(await heldParts(world)).toEqual([1])
  })

  it.each([
    ['a throttle', new Retry('model_throttled', 'Too many.', 30_000), 'parked', true],
    ['no answer', new Retry('model_unreachable', 'Nobody there.', 0), 'failed', true],
    ['a refusal', new Refused('model_refused', 'No such model.', 'Name another.'), 'failed', false],
    ['a used-up quota', new Refused('model_quota_exhausted', 'No credit.', 'Pay.'), 'failed', false],
  ])('R3: a probe that meets %s', async (_what, error, outcome, staysClosed) => {
    throttle()
    await work(await admittedTo(0))
    await admittedTo(0)
    world.now = ((await closed())?.until ?? 0) + 1
    await handOn(world.coordinator)
    whileReading = () => Promise.reject(error)
    expect(await work(await stored(world, 0))).toMatchObject({ outcome })
    expect((await closed()) !== undefined).toBe(staysClosed)
    expect(await heldParts(world)).toEqual([])
  })

  it('what was made before says nothing about the model: the pool stays closed', async () => {
    said = ANSWERED
    const stop = world.wire.refuse(
      ({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('"completed"'),
      'ValidationException',
    )
    await expect(work(await admittedTo(0))).rejects.toThrow()
    stop()
    const review = await stored(world, 0)
    await takeBack(world.ledger, review, (review.until ?? 0) + 1)
    await closePool(world.coordinator, slotOf(review), world.now + MINUTE_MS)
    await admittedTo(0)
    world.now += MINUTE_MS
    await handOn(world.coordinator)
    expect(await work(await stored(world, 0))).toMatchObject({ outcome: 'completed' })
    expect(readings).toBe(1)
    expect(await closed()).toBeDefined()
  })

  it('the check run says since when and until when, once; and that it goes on, once the model answers', async () => {
    throttle()
    await work(await admittedTo(0))
    expect(await run()).toMatchObject({ parked: { pool: POOL } })
    const parked = await shown()
    expect(parked).toMatchObject({
      status: 'in_progress',
      title: expect.stringMatching(/^Parked since .* UTC, next try/),
    })
    expect(parked?.summary).toContain('`a` asks for patience')
    const { version } = (await run()) ?? {}
    await admittedTo(0)
    world.now = ((await closed())?.until ?? 0) + 1
    await handOn(world.coordinator)
    await work(await stored(world, 0))
    expect(await run()).toMatchObject({ version, parked: { pool: POOL } })
    await admittedTo(0)
    world.now = ((await closed())?.until ?? 0) + 1
    await handOn(world.coordinator)
    answers()
    await work(await stored(world, 0))
    expect(await run()).not.toHaveProperty('parked')
    expect(await shown()).toMatchObject({ status: 'in_progress', title: 'Reviewing' })
  })

  it('L2: whose patience is over it fails, with the reason, and closes the pool all the same', async () => {
    throttle()
    await admittedTo(0)
    const since = Date.now() - 61 * MINUTE_MS
    const key = keyOf.review(wantedReview(0))
    await world.put({ ...(await world.item(key)), ...key, throttledSince: since })
    expect(await work(await stored(world, 0))).toMatchObject({ outcome: 'failed' })
    expect(await stored(world, 0)).toMatchObject({
      state: 'failed',
      reason: { code: 'model_throttled', sentence: expect.stringContaining('60 min') },
    })
    expect(await heldParts(world)).toEqual([])
    expect(await closed()).toBeDefined()
    expect((await run())?.parked).toBeUndefined()
  })

  it('RC5: a worker that was replaced parks nothing and closes nothing', async () => {
    whileReading = async () => {
      await takeBack(world.ledger, await stored(world, 0), Date.now() + 60 * MINUTE_MS)
      throw new Retry('model_throttled', 'Too many requests.', 20_000)
    }
    await expect(work(await admittedTo(0))).rejects.toMatchObject({ name: 'stale_fence' })
    expect(await closed()).toBeUndefined()
    expect(await stored(world, 0)).not.toHaveProperty('throttledSince')
  })

  it('a review that asks no model closes no pool: it fails as it would for any other reason', async () => {
    throttle()
    expect(await work(await admitted(world, 0))).toMatchObject({ outcome: 'failed' })
    expect((await readFleet(world.ledger)).closed).toEqual({})
  })

  it('an Admit that came again while it worked waits in its queue, without the machine coming back', async () => {
    whileReading = async () => {
      await asked(world, 0, { pool: POOL, token: 'again-0' })
      throw new Retry('model_throttled', 'Too many requests.', 20_000)
    }
    expect(await work(await admittedTo(0))).toMatchObject({ outcome: 'parked' })
    expect(await stored(world, 0)).toMatchObject({ state: 'waiting', epoch: 2, token: 'again-0' })
    world.now = ((await closed())?.until ?? 0) + 1
    await handOn(world.coordinator)
    expect(world.answers.at(-1)).toMatchObject({ token: 'again-0', output: { outcome: 'granted', epoch: 2 } })
  })
})
