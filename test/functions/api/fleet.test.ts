/** CE1–CE8 at the public boundary: limits are set and read through the API, reviews take their slots as rooms do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  admitted,
  heldParts,
  idOf,
  stored,
  toldParts,
  waitingItems,
  worked,
} from '../../shared/coordinator/fleet-of-tests.ts'
import { repository } from '../../shared/samples.ts'
import { type ApiWorld, openApiWorld } from './world.ts'

let api: ApiWorld
beforeEach(async () => {
  api = await openApiWorld()
})
afterEach(() => api.close())

const set = (limits: object, headers: Record<string, string> = {}) =>
  api.ask('PATCH /fleet/limits', { body: limits, headers })
/** So many reviews of one repository, numbered by their part. */
const queue = async (parts: readonly number[], changes: Parameters<typeof admitted>[2] = {}) => {
  for (const part of parts) await admitted(api.world, part, changes)
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

describe('GET /fleet', () => {
  it('a fleet without configured limits shows the default, without a reason or a slot', async () => {
    expect(await api.fleet()).toMatchObject({
      fleet: { configured: 15, effective: 15, enabled: true, held: 0 },
      slots: [],
      waiting: { tickets: [], cut: false },
      halts: [],
      revision: 0,
    })
  })

  it('shows the slots with their begin and the tickets, but no token', async () => {
    await set({ configured: 1 })
    await queue([1, 2])
    const view = await api.fleet()
    const [slot] = view.slots
    expect(slot).toMatchObject({ lens: 'secrets', part: 1, repository: 7, pool: 'lambda' })
    expect(slot?.since).toBe(new Date(api.world.now).toISOString())
    expect(view.waiting).toMatchObject({ cut: false, tickets: [{ lens: 'secrets', part: 2, repository: 7 }] })
    expect(view.pools).toContainEqual({ pool: 'lambda', configured: 1, effective: 1, held: 1 })
    expect(JSON.stringify(view)).not.toContain('token')
  })

  it('lists a bounded number of tickets and says that the list is cut', async () => {
    await set({ configured: 1 })
    await queue(range(0, 23))
    const { tickets, cut } = (await api.fleet()).waiting
    expect([tickets.length, cut]).toEqual([20, true])
  })
})

describe('PATCH /fleet/limits', () => {
  it('CE1: configured 15 and 20 reviews of 4 runs: exactly 15 slots, 5 tickets', async () => {
    expect((await set({ configured: 15 })).body.fleet).toMatchObject({ configured: 15, effective: 15 })
    for (const run of ['a', 'b', 'c', 'd']) await queue(range(0, 5), { runId: run.repeat(64) })
    const view = await api.fleet()
    expect([view.fleet.held, view.slots.length, view.waiting.tickets.length]).toEqual([15, 15, 5])
  })

  it('CE2: a value beyond a pool’s ceiling is refused with the limit named, and nothing is changed', async () => {
    const { status, body } = await set({ configured: 20, pools: { external: { configured: 50 } } })
    expect([status, body.error.code]).toEqual([422, 'limit_above_ceiling'])
    expect(body.error.message).toMatch(/external.* 16/)
    expect(body.error.remedy).not.toBe('')
    expect(await api.fleet()).toMatchObject({ revision: 0, fleet: { configured: 15 } })
  })

  it('CE2: a stored value beyond a ceiling is shown with the effective limit and the reason', async () => {
    await api.world.limit({ configured: 60, pools: { external: { configured: 50 } } })
    const { pools } = await api.fleet()
    expect(pools).toContainEqual({ pool: 'external', configured: 50, effective: 16, reason: 'pool_ceiling', held: 0 })
  })

  it('CE3: disabled means a single slot, whatever is configured, and the reason is shown', async () => {
    const { status, body } = await set({ configured: 15, enabled: false })
    expect(status).toBe(200)
    expect(body.fleet).toMatchObject({ configured: 15, effective: 1, reason: 'concurrency_disabled', enabled: false })
    await queue([1, 2])
    expect(await heldParts(api.world)).toEqual([1])
  })

  it('CE4: of two changes at once none is lost without an error, and the rule between the limits holds', async () => {
    await set({ configured: 60 })
    const answers = await Promise.all([set({ accountQuota: 20, configured: 10 }), set({ configured: 50 })])
    const { fleet, accountQuota } = await api.fleet()
    expect(accountQuota).toBe(20)
    // The outcome by the last change: 50 after the quota is refused, 10 with the quota after 50 stands.
    expect(fleet).toMatchObject({ configured: 10, effective: 10 })
    expect(answers[0]?.status).toBe(200)
    expect(answers[1]?.status === 200 || answers[1]?.body.error.code === 'limit_above_ceiling').toBe(true)
  })

  it('CE5: a change made valid by the change just before is accepted', async () => {
    await set({ accountQuota: 10, configured: 10 })
    expect((await set({ configured: 30 })).status).toBe(422)
    await set({ accountQuota: 40 })
    expect((await set({ configured: 30 })).body.fleet).toMatchObject({ configured: 30, effective: 30 })
  })

  it('a sparse change leaves the other limits alone, and null takes a value back to its default', async () => {
    await set({ configured: 20, perRepository: 3, pools: { external: { configured: 4 } } })
    await set({ configured: 12 })
    const view = await api.fleet()
    expect(view).toMatchObject({ fleet: { configured: 12 }, repository: { effective: 3, reason: 'per_repository' } })
    expect(view.pools).toContainEqual({ pool: 'external', configured: 4, effective: 4, held: 0 })
    const { body } = await set({ perRepository: null, pools: { external: null } })
    expect(body.repository).toEqual({ configured: 12, effective: 12 })
  })

  it('If-Match: a change decided on an earlier revision is refused, on the present revision accepted', async () => {
    const { headers } = await set({ configured: 10 })
    const { etag = '' } = headers
    expect((await set({ configured: 11 }, { 'if-match': etag })).status).toBe(200)
    const { status, body } = await set({ configured: 12 }, { 'if-match': etag })
    expect([status, body.error.code]).toEqual([409, 'limits_changed'])
    expect((await set({ configured: 12 }, { 'if-match': '*' })).body.error.code).toBe('payload_invalid')
  })

  const wrong: [string, unknown, number, string][] = [
    ['no JSON', '{"configured"', 400, 'malformed_body'],
    ['no object', [], 422, 'limits_invalid'],
    ['an unknown member', { concurrency: 3 }, 422, 'limits_invalid'],
    ['no whole number', { configured: 1.5 }, 422, 'limits_invalid'],
    ['zero', { configured: 0 }, 422, 'limits_invalid'],
    ['an unknown pool', { pools: { nowhere: { configured: 1 } } }, 422, 'limits_invalid'],
  ]
  it.each(wrong)('%s is refused with a remedy and changes nothing', async (_name, body, status, code) => {
    const answer = await api.ask('PATCH /fleet/limits', { body })
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(answer.body.error.remedy).not.toBe('')
    expect((await api.fleet()).revision).toBe(0)
  })
})

describe('limits and reviews', () => {
  it('CE6: of two reviews asking for the last slot, exactly one gets the slot', async () => {
    await set({ configured: 2 })
    await queue([0])
    await Promise.all([admitted(api.world, 1), admitted(api.world, 2)])
    const { fleet, waiting } = await api.fleet()
    expect([fleet.held, waiting.tickets.length]).toEqual([2, 1])
  })

  it('CE7: lowered from 15 to 5 with 15 slots held: no review is ended, none granted before fewer than 5 are held', async () => {
    await set({ configured: 15 })
    await queue(range(0, 16))
    const { body } = await set({ configured: 5 })
    expect(body.fleet).toMatchObject({ configured: 5, effective: 5, held: 15 })
    for (const part of range(0, 10)) await worked(api.world, await stored(api.world, part))
    expect([(await api.fleet()).fleet.held, (await waitingItems(api.world)).tickets]).toEqual([5, [idOf(15)]])
    await worked(api.world, await stored(api.world, 10))
    expect(await heldParts(api.world)).toEqual([11, 12, 13, 14, 15])
  })

  it('a raise is answered after the waiting reviews got their slots', async () => {
    await set({ configured: 1 })
    await queue([0, 1, 2])
    expect(toldParts(api.world)).toEqual([0])
    await set({ configured: 3 })
    expect(toldParts(api.world).toSorted()).toEqual([0, 1, 2])
  })

  it('CE8: of 100 tickets of one repository and 1 of another, the single ticket gets the next slot', async () => {
    await set({ configured: 4, perRepository: 3 })
    await queue(range(0, 103))
    // No other ticket waits, and the fourth slot stays free: the repository's own limit is three.
    expect(await heldParts(api.world)).toEqual([0, 1, 2])
    await set({ configured: 3 })
    const other = { repository: { ...repository, id: 8, name: 'gadgets' }, runId: 'e'.repeat(64) }
    await admitted(api.world, 500, { ...other, turn: 0 })
    expect(await heldParts(api.world)).toEqual([0, 1, 2])
    await worked(api.world, await stored(api.world, 0))
    expect(await heldParts(api.world)).toEqual([1, 2, 500])
  })
})
