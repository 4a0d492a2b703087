/** A throttled model, in virtual time: reviews are parked and not failed, one probe at a time tries it, and patience ends. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Retry } from '../../shared/base/errors.ts'
import { PROBE_ADMITTED_MS } from '../../shared/base/limits.ts'
import { bundleRooms, type ColdStart } from './kernel/bundle.ts'
import type { Commit } from './services/table.ts'
import type { LensBehaviourOf } from './simulated-lens.ts'
import { openWorld, STARTS_AT, type World } from './world.ts'

let coldStart: ColdStart
let open: World | undefined

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => {
  open?.close()
  open = undefined
})

const POOL = 'model/simulated'
const MINUTE_MS = 60_000
/** ms that a reading takes: longer than it takes to be let in. */
const READING_MS = 20_000
/** ms for what a hand-over and its transitions take in the world. */
const SOON_MS = 3_000

interface Throttling {
  /** ms after the world's first moment until which the model is throttled. */
  readonly until: number
  /** What it says, and after how long it says so, ms. */
  readonly afterMs?: number
  readonly refusedAfterMs?: number
  readonly pulls: number
  /** Pull requests are opened evenly within this time, ms. */
  readonly withinMs: number
  readonly patienceMinutes?: number
}

interface Throttled {
  readonly world: World
  /** Calls of the model, ms after the beginning. */
  readonly calls: readonly number[]
  /** Calls that the model answered while it was throttled. */
  readonly refused: readonly number[]
  /** At each call: how many of the pool's slots were held then. */
  readonly holding: readonly { readonly at: number; readonly held: number }[]
  /** Titles of check runs in progress, in the order in which GitHub was told them, each once. */
  readonly titles: ReadonlySet<string>
  /** Raises of each check run. */
  readonly raises: ReadonlyMap<string, number>
}

/** A world in which the model is throttled from the beginning, until every run has ended. */
async function simulate(throttling: Throttling): Promise<Throttled> {
  const { until, afterMs = 20_000, refusedAfterMs = 100, pulls, withinMs, patienceMinutes } = throttling
  const calls: number[] = []
  const refused: number[] = []
  const holding: { at: number; held: number }[] = []
  const titles = new Set<string>()
  const raises = new Map<string, number>()
  const elapsed = () => world.timeline.now - STARTS_AT
  const lens: LensBehaviourOf = (_name, { model }) => {
    if (!model) return { durationMs: 500 }
    const at = elapsed()
    calls.push(at)
    holding.push({ at, held: heldIn(world, POOL) })
    if (at >= until) return { durationMs: READING_MS }
    refused.push(at)
    return { durationMs: refusedAfterMs, failure: new Retry('model_throttled', 'Too many requests.', afterMs) }
  }
  const world: World = openWorld({
    seed: 1,
    coldStart,
    lens,
    traced: false,
    ...(patienceMinutes === undefined ? {} : { environment: { PATIENCE_MINUTES: String(patienceMinutes) } }),
    watcher: {
      answered(service, { method, body }) {
        if (service !== 'github' || method === 'GET' || !body.includes('in_progress')) return
        titles.add((JSON.parse(body) as { output?: { title?: string } }).output?.title ?? '')
      },
    },
  })
  open = world
  world.table.onCommit(({ changes }: Commit) => {
    for (const { key, before, after } of changes) {
      if (key.sk !== 'SHOWN' || after?.version === before?.version) continue
      for (const [member, value] of Object.entries(after ?? {})) {
        if (!member.startsWith('generation_check_run') || value === before?.[member]) continue
        raises.set(`${key.pk} ${member}`, (raises.get(`${key.pk} ${member}`) ?? 0) + 1)
      }
    }
  })
  await world.act((github) => github.addRepository({ owner: 'acme', name: 'widgets', files: { 'a.ts': 'one\n' } }))
  for (let pull = 0; pull < pulls; pull += 1) {
    await world.timeline.run(STARTS_AT + (pull * withinMs) / pulls)
    await world.act((github) =>
      github.open({ repository: 'acme/widgets', files: { 'a.ts': `one\ntwo ${pull}\n` }, body: 'What it is for' }),
    )
  }
  expect(await untilEnded(world, pulls)).toBe(true)
  return { world, calls, refused, holding, titles, raises }
}

function untilEnded(world: World, count: number): Promise<boolean> {
  const endsBy = world.timeline.now + 5 * 60 * MINUTE_MS
  return world.timeline.run(endsBy, () => {
    const runs = world.table.items('RUN#', 'RUN')
    return runs.length === count && runs.every(({ state }) => state === 'ended')
  })
}

function heldIn(world: World, pool: string): number {
  const fleet = world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })
  const slots = Object.values((fleet?.slots ?? {}) as Record<string, { pool: string }>)
  return slots.filter((slot) => slot.pool === pool).length
}

const runsOf = (world: World) => world.table.items('RUN#', 'RUN')
const modelReviews = ({ table }: World) =>
  runsOf({ table } as World)
    .flatMap(({ pk }) => table.items(String(pk), 'REVIEW#'))
    .filter(({ lens }) => lens === 'correctness')
const conclusions = ({ github }: World, pulls: number) =>
  Array.from({ length: pulls }, (_, at) => github.pullRequest('acme/widgets', at + 1)).flatMap(({ checkRuns }) =>
    checkRuns.flatMap(({ runs }) => runs.map(({ status, conclusion }) => `${status} ${conclusion}`)),
  )

describe('L1: a model that is throttled for ten minutes', () => {
  test('57 pull requests in 15 minutes: all complete, nothing fails, and nothing is read twice', async () => {
    const pulls = 57
    const { world, calls, refused } = await simulate({ until: 10 * MINUTE_MS, pulls, withinMs: 15 * MINUTE_MS })
    expect(conclusions(world, pulls)).toEqual(Array.from({ length: pulls }, () => 'completed success'))
    expect(runsOf(world).every(({ outcome, verdict }) => outcome === 'reviewed' && verdict === 'pass')).toBe(true)
    expect(world.machine.executions().every(({ status }) => status === 'SUCCEEDED')).toBe(true)
    expect(calls.length - refused.length).toBe(pulls)
    expect(modelReviews(world).every(({ losses }) => losses === undefined)).toBe(true)
    // One probe at a time from the first throttle on: a few in ten minutes, for however many wait.
    expect(refused.length).toBeGreaterThan(2)
    expect(refused.length).toBeLessThan(20)
  })

  test('R3: many at once: whoever was at work is throttled, then one probe at a time tries it, later each time', async () => {
    const { refused, holding } = await simulate({ until: 10 * MINUTE_MS, pulls: 12, withinMs: 1, afterMs: 0 })
    const first = refused[0] ?? 0
    const probes = holding.filter(({ at }) => at > first + MINUTE_MS && at < 10 * MINUTE_MS)
    expect(probes.length).toBeGreaterThan(1)
    expect(new Set(probes.map(({ held }) => held))).toEqual(new Set([1]))
    const waits = probes.slice(1).map(({ at }, index) => at - (probes[index]?.at ?? 0))
    expect(waits.at(-1)).toBeGreaterThan(waits[0] ?? 0)
  })

  test('others are let in when its probe has been read for a while, and not only when it has been read', async () => {
    const until = 10 * MINUTE_MS
    const { calls, refused } = await simulate({ until, pulls: 6, withinMs: 1 })
    const [probe = 0, ...others] = calls.slice(refused.length)
    expect(others).toHaveLength(5)
    for (const at of others) {
      expect(at).toBeGreaterThanOrEqual(probe + PROBE_ADMITTED_MS)
      expect(at).toBeLessThan(probe + PROBE_ADMITTED_MS + SOON_MS)
    }
  })

  test('that refuses later than it is taken to let in: its pool is closed again each time, and all complete', async () => {
    const pulls = 4
    const { world, calls, refused } = await simulate({
      until: 5 * MINUTE_MS,
      refusedAfterMs: PROBE_ADMITTED_MS + 5_000,
      pulls,
      withinMs: 1,
    })
    expect(conclusions(world, pulls)).toEqual(Array.from({ length: pulls }, () => 'completed success'))
    expect(calls.length - refused.length).toBe(pulls)
    expect(modelReviews(world).every(({ losses }) => losses === undefined)).toBe(true)
    // Whoever was let in beside a probe meets it too: a call for each place, and not more, each time.
    expect(refused.length).toBeGreaterThan(2 * pulls)
    expect(refused.length).toBeLessThan(10 * pulls)
    await world.timeline.run(world.timeline.now + 5 * MINUTE_MS)
    expect(world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })).toMatchObject({ closed: {}, slots: {} })
  })

  test('the check run says since when it is parked and when it is tried next; twice, not at each probe', async () => {
    const { titles, raises, refused } = await simulate({ until: 10 * MINUTE_MS, pulls: 1, withinMs: 1 })
    expect([...titles].filter((title) => title.startsWith('Parked'))).toEqual([
      expect.stringMatching(/^Parked since 2026-01-05 09:0\d UTC, next try 2026-01-05 09:0\d UTC$/),
    ])
    expect(refused.length).toBeGreaterThan(3)
    // In progress, parked, going on, concluded.
    expect([...raises.values()]).toEqual([4])
  })

  test('nothing is left closed, waiting or due afterwards', async () => {
    const { world } = await simulate({ until: 10 * MINUTE_MS, pulls: 3, withinMs: 1 })
    await world.timeline.run(world.timeline.now + 10 * MINUTE_MS)
    const fleet = world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })
    expect(fleet).toMatchObject({ closed: {}, slots: {} })
    expect(fleet).not.toHaveProperty('dueAt')
    expect(world.table.items('FLEET#main', 'WAITING#')).toEqual([])
  })
})

describe('L2: a model that is throttled for longer than patience', () => {
  test('every run ends incomplete, in time, and names the lens; every check run is completed', async () => {
    const pulls = 4
    const { world } = await simulate({ until: 24 * 60 * MINUTE_MS, pulls, withinMs: 5 * MINUTE_MS })
    expect(world.timeline.now - STARTS_AT).toBeLessThan(80 * MINUTE_MS)
    expect(conclusions(world, pulls)).toEqual(Array.from({ length: pulls }, () => 'completed neutral'))
    expect(runsOf(world).every(({ verdict, concludedWhole }) => verdict === 'incomplete' && !concludedWhole)).toBe(true)
    for (const { reason } of modelReviews(world)) expect(reason).toMatchObject({ code: 'model_throttled' })
    const [summary] = world.github.pullRequest('acme/widgets', 1).issueComments
    expect(summary?.body).toMatch(/lens correctness failed: model_throttled.*simulated was throttled.*60 min/)
    // Nobody waits for it any more, and nobody tries it.
    await world.timeline.run(world.timeline.now + 30 * MINUTE_MS)
    expect(world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })).toMatchObject({ closed: {}, slots: {} })
  })

  test('LE9: retry adds only what is missing, once the model answers', async () => {
    const { world, calls, refused } = await simulate({
      until: 30 * MINUTE_MS,
      pulls: 1,
      withinMs: 1,
      patienceMinutes: 10,
    })
    expect(refused).toEqual(calls)
    const analyzed = () =>
      world.table.items(String(runsOf(world)[0]?.pk), 'REVIEW#').filter(({ lens }) => lens !== 'correctness')
    const before = analyzed()
    await world.timeline.run(STARTS_AT + 31 * MINUTE_MS)
    const { runId } = runsOf(world)[0] ?? {}
    const asked = {
      version: '2.0',
      routeKey: 'POST /runs/{runId}/retry',
      pathParameters: { runId },
      headers: {},
      requestContext: { requestId: 'asked', authorizer: { iam: { userArn: 'arn:aws:sts::1:assumed-role/o/olga' } } },
    }
    world.functions.invoke('api', JSON.stringify(asked), () => undefined)
    await world.timeline.run(world.timeline.now + MINUTE_MS)
    expect(await untilEnded(world, 1)).toBe(true)
    expect(runsOf(world)).toEqual([expect.objectContaining({ attempt: 2, verdict: 'pass', concludedWhole: true })])
    expect(conclusions(world, 1)).toEqual(['completed success'])
    expect(calls.length - refused.length).toBe(1)
    expect(analyzed()).toEqual(before)
  })
})
