/**
 * The review room, over the real ledger, with a throttled model: reviews are parked, and a probe tries the model again.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LocalService, serve } from '../../../infra/local/service.ts'
import { Refused, Retry } from '../../../shared/base/errors.ts'
import { closePool, grantSlots, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import { getDocument } from '../../../shared/documents/documents.ts'
import type { Lens, LensInput, LensOutput, ModelCalls } from '../../../shared/findings/lens.ts'
import { readFleet } from '../../../shared/ledger/fleet.ts'
import { readResources, resourceIn } from '../../../shared/ledger/resource.ts'
import { takeBack } from '../../../shared/ledger/review.ts'
import { readRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { type CheckRunResource, resourceSchema } from '../../../shared/publishing/github-payloads.ts'
import type { Review } from '../../../shared/runs/review.ts'
import { about, admitted, asked, FLEET, heldParts, stored } from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, wantedReview } from '../../shared/samples.ts'
import { attemptRuns, work } from './room.ts'

const LENS = { lens: 'correctness' } as const
const NOTHING: LensOutput = { findings: [], coverage: [] }
const ANSWERED: LensOutput = { ...NOTHING, usage: { model: 'a', inputTokens: 1, outputTokens: 1 } }

/** Counts the readings of a lens, decides about each, and has its output. */
let readings = 0
let whileReading: (input: LensInput) => Promise<unknown>
let lensOutput: LensOutput
const lens: Lens = async (input) => {
  readings += 1
  await whileReading(input)
  return lensOutput
}
vi.mock('../../../functions/review/lenses/index.ts', () => ({ lensOf: () => Promise.resolve(lens) }))

let world: World
let secrets: LocalService
beforeEach(async () => {
  world = await startWorld()
  secrets = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end('{"SecretString":"{}"}')
  })
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = secrets.url
  world.now = Date.now()
  readings = 0
  whileReading = () => Promise.resolve()
  lensOutput = NOTHING
  await attemptRuns(world, 1, {
    reviews: [0, 1, 2].map((part) => ({ ...LENS, part, paths: [] })),
    model: { model: 'a', baseUrl: 'http://localhost/v1' },
  })
})
afterEach(async () => {
  delete process.env.LEASE_SECONDS
  delete process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER
  await secrets.close()
  await world.close()
})

const POOL = 'model/a'
const MINUTE_MS = 60_000
const throttle = (afterMs = 20_000) => {
  whileReading = () => Promise.reject(new Retry('model_throttled', 'Too many requests.', afterMs))
}
const answers = () => {
  whileReading = () => Promise.resolve()
  lensOutput = ANSWERED
}
const admittedTo = (part: number, changes: Partial<Review> = {}) =>
  admitted(world, part, { ...LENS, pool: POOL, token: `token-${part}-${world.answers.length}`, ...changes })
const reviewAt = (part: number) => stored(world, part, LENS)
/** The time of the closed pool has come, and a process hands slots on. */
async function isTriedAgain(): Promise<void> {
  world.now = ((await closed())?.until ?? 0) + 1
  await grantSlots(world.coordinator)
}
const closed = async () => (await readFleet(world.ledger)).closed[POOL]
const run = () => readRun(world.ledger, wantedReview(0).runId)
async function shown(): Promise<CheckRunResource | undefined> {
  const pullRequest = { repositoryId: repository.id, number: requestOf().number }
  const resources = await readResources(world.ledger, pullRequest)
  const resource = resourceIn(resources, { kind: 'check_run', key: requestOf().head })
  const desired = resource && (await getDocument(world.ending.documents, resource.document, resourceSchema))
  return desired?.kind === 'check_run' ? desired : undefined
}

describe('a throttled model', () => {
  it('L1: parks the review without loss or result, frees its slot, and closes its pool for as long as asked', async () => {
    throttle()
    const before = Date.now()
    expect(await work(world, await admittedTo(0))).toEqual({ outcome: 'parked', findings: 0, blocking: 0 })
    const review = await reviewAt(0)
    expect(review).toMatchObject({ state: 'planned', epoch: 2, pool: POOL, throttledSince: expect.any(Number) })
    expect(review).not.toHaveProperty('losses')
    expect(review).not.toHaveProperty('owner')
    expect(await heldParts(world)).toEqual([])
    const { since = 0, until = 0 } = (await closed()) ?? {}
    expect(until - since).toBeGreaterThanOrEqual(20_000)
    expect(until - since).toBeLessThanOrEqual(22_000)
    expect(since).toBeGreaterThanOrEqual(before)
  })

  it('L1: lets a parked review wait until its probe is answered, which opens the pool before the slot is released', async () => {
    throttle()
    await work(world, await admittedTo(0))
    const waits = await admittedTo(0)
    expect(waits.state).toBe('waiting')
    expect((await admittedTo(1)).state).toBe('waiting')
    await isTriedAgain()
    expect(await heldParts(world)).toEqual([0])
    answers()
    expect(await work(world, await reviewAt(0))).toMatchObject({ outcome: 'completed' })
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
    await work(world, await admittedTo(0))
    await admittedTo(0)
    await isTriedAgain()
    whileReading = () => Promise.reject(error)
    expect(await work(world, await reviewAt(0))).toMatchObject({ outcome })
    expect((await closed()) !== undefined).toBe(staysClosed)
    expect(await heldParts(world)).toEqual([])
  })

  it('keeps its pool closed after a cached result, which says nothing about the model', async () => {
    lensOutput = ANSWERED
    const stop = world.wire.refuse(
      ({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('"completed"'),
      'ValidationException',
    )
    await expect(work(world, await admittedTo(0))).rejects.toThrow()
    stop()
    const review = await reviewAt(0)
    await takeBack(world.ledger, review, (review.until ?? 0) + 1)
    await closePool(world.coordinator, slotOf(review), world.now + MINUTE_MS)
    await admittedTo(0)
    world.now += MINUTE_MS
    await grantSlots(world.coordinator)
    expect(await work(world, await reviewAt(0))).toMatchObject({ outcome: 'completed' })
    expect(readings).toBe(1)
    expect(await closed()).toBeDefined()
  })

  it('is shown in the check run once, with begin and end, until the model answers again', async () => {
    throttle()
    await work(world, await admittedTo(0))
    expect(await run()).toMatchObject({ parked: { pool: POOL } })
    const parked = await shown()
    expect(parked).toMatchObject({
      status: 'in_progress',
      title: expect.stringMatching(/^Parked since .* UTC, next try/),
    })
    expect(parked?.summary).toContain('`a` asks for patience')
    const { version } = (await run()) ?? {}
    await admittedTo(0)
    await isTriedAgain()
    await work(world, await reviewAt(0))
    expect(await run()).toMatchObject({ version, parked: { pool: POOL } })
    await admittedTo(0)
    await isTriedAgain()
    answers()
    await work(world, await reviewAt(0))
    expect(await run()).not.toHaveProperty('parked')
    expect(await shown()).toMatchObject({ status: 'in_progress', title: 'Reviewing' })
  })

  it('L2: fails a review whose patience is over, with the reason, and still closes the pool', async () => {
    throttle()
    await admittedTo(0)
    const since = Date.now() - 61 * MINUTE_MS
    const key = keyOf.review(wantedReview(0, LENS))
    await world.put({ ...(await world.item(key)), ...key, throttledSince: since })
    expect(await work(world, await reviewAt(0))).toMatchObject({ outcome: 'failed' })
    expect(await reviewAt(0)).toMatchObject({
      state: 'failed',
      reason: { code: 'model_throttled', sentence: expect.stringContaining('60 min') },
    })
    expect(await heldParts(world)).toEqual([])
    expect(await closed()).toBeDefined()
    expect((await run())?.parked).toBeUndefined()
  })

  it('RC5: is not believed from a replaced worker: no review is parked and no pool closed', async () => {
    whileReading = async () => {
      await takeBack(world.ledger, await reviewAt(0), Date.now() + 60 * MINUTE_MS)
      throw new Retry('model_throttled', 'Too many requests.', 20_000)
    }
    await expect(work(world, await admittedTo(0))).rejects.toMatchObject({ name: 'stale_fence' })
    expect(await closed()).toBeUndefined()
    expect(await reviewAt(0)).not.toHaveProperty('throttledSince')
  })

  it('closes no pool for a review without a model, which fails as for any other reason', async () => {
    throttle()
    expect(await work(world, await admitted(world, 0))).toMatchObject({ outcome: 'failed' })
    expect((await readFleet(world.ledger)).closed).toEqual({})
  })

  it('queues the token of a second Admit, without another call by the machine', async () => {
    whileReading = async () => {
      await asked(world, 0, { ...LENS, pool: POOL, token: 'again-0' })
      throw new Retry('model_throttled', 'Too many requests.', 20_000)
    }
    expect(await work(world, await admittedTo(0))).toMatchObject({ outcome: 'parked' })
    expect(await reviewAt(0)).toMatchObject({ state: 'waiting', epoch: 2, token: 'again-0' })
    await isTriedAgain()
    expect(world.answers.at(-1)).toMatchObject({ token: 'again-0', output: { outcome: 'granted', epoch: 2 } })
  })
})

describe('a probe admitted by its model', () => {
  /** Review 0 was throttled, and is the probe now; review 1 waits. */
  async function probe(): Promise<Review> {
    throttle()
    await work(world, await admittedTo(0))
    await admittedTo(0)
    await admittedTo(1)
    await isTriedAgain()
    expect(await heldParts(world)).toEqual([0])
    return reviewAt(0)
  }
  const callsOf = ({ model }: LensInput): ModelCalls => {
    if (!model?.calls) throw new Error('Expected a model whose calls are heard')
    return model.calls
  }
  const fleetReads = () => world.wire.passed.filter(about('GetItem', FLEET)).length
  const isOpen = () => vi.waitFor(async () => expect(await closed()).toBeUndefined())

  it('L1: opens its pool during its reading: other reviews work beside the probe, and its run goes on', async () => {
    const review = await probe()
    lensOutput = ANSWERED
    whileReading = async (input) => {
      callsOf(input).answered()
      await vi.waitFor(async () => expect(await run()).not.toHaveProperty('parked'))
      expect(await closed()).toBeUndefined()
      expect(await heldParts(world)).toEqual([0, 1])
      expect(await reviewAt(0)).toMatchObject({ state: 'leased' })
    }
    expect(await work(world, review)).toMatchObject({ outcome: 'completed' })
    expect(await shown()).toMatchObject({ status: 'in_progress', title: 'Reviewing' })
    expect(await heldParts(world)).toEqual([1])
  })

  it('and throttled nevertheless is parked, and closes the pool again', async () => {
    const review = await probe()
    whileReading = async (input) => {
      callsOf(input).answered()
      await isOpen()
      throw new Retry('model_throttled', 'Too many requests.', 20_000)
    }
    expect(await work(world, review)).toMatchObject({ outcome: 'parked' })
    expect(await closed()).toBeDefined()
    expect(await run()).toMatchObject({ parked: { pool: POOL } })
    expect(await heldParts(world)).toEqual([1])
  })

  it('is waited for: the pool’s opening is done before the room answers', async () => {
    const review = await probe()
    whileReading = async (input) => {
      callsOf(input).answered()
      throw new Retry('model_unreachable', 'Nobody there.', 0)
    }
    expect(await work(world, review)).toMatchObject({ outcome: 'failed' })
    expect(await closed()).toBeUndefined()
    world.wire.passed.length = 0
    await new Promise((resolve) => setImmediate(resolve))
    expect(world.wire.passed).toEqual([])
  })

  it('opens its pool after its reading if the opening failed before', async () => {
    const review = await probe()
    lensOutput = ANSWERED
    whileReading = async (input) => {
      const opens = about('UpdateItem', FLEET)
      const stop = world.wire.refuse(opens, 'ValidationException')
      world.wire.passed.length = 0
      callsOf(input).answered()
      await vi.waitFor(() => expect(world.wire.passed.some(opens)).toBe(true))
      stop()
    }
    expect(await work(world, review)).toMatchObject({ outcome: 'completed' })
    expect(await closed()).toBeUndefined()
    expect(await run()).not.toHaveProperty('parked')
  })

  it('I8: opens nothing once its lease is lost', async () => {
    process.env.LEASE_SECONDS = '3'
    const review = await probe()
    whileReading = async (input) => {
      await takeBack(world.ledger, await reviewAt(0), Date.now() + 60 * MINUTE_MS)
      await new Promise((resolve) => input.signal.addEventListener('abort', resolve))
      world.wire.passed.length = 0
      callsOf(input).answered()
    }
    await expect(work(world, review)).rejects.toMatchObject({ name: 'stale_fence' })
    expect(fleetReads()).toBe(0)
    expect(await closed()).toBeDefined()
  })

  it('differs from a review at work when the pool was closed, which opens nothing', async () => {
    const works = await admittedTo(1)
    lensOutput = ANSWERED
    whileReading = async (input) => {
      await closePool(world.coordinator, slotOf(await admittedTo(0)), Date.now() + MINUTE_MS)
      callsOf(input).answered()
    }
    expect(await work(world, works)).toMatchObject({ outcome: 'completed' })
    expect(await closed()).toBeDefined()
  })

  it('costs other reviews nothing: a review in an open pool reads and writes the fleet as often as before', async () => {
    const cost = async (part: number, calls: (heard: ModelCalls) => void) => {
      lensOutput = ANSWERED
      whileReading = (input) => Promise.resolve(calls(callsOf(input)))
      const review = await admittedTo(part)
      world.wire.passed.length = 0
      await work(world, review)
      return { reads: fleetReads(), writes: world.wire.passed.filter(about('UpdateItem', FLEET)).length }
    }
    const unheard = await cost(0, () => undefined)
    expect(unheard.writes).toBe(1)
    expect(await cost(1, (heard) => heard.answered())).toEqual(unheard)
  })
})
