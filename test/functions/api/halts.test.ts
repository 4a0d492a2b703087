/** Halts through the API: set, read and lifted by operators. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setHalt, standingHalt } from '../../../shared/ledger/halt.ts'
import { pausedBy } from '../../../shared/runs/halt.ts'
import { admitted, toldParts, worked } from '../../shared/coordinator/fleet-of-tests.ts'
import { repository } from '../../shared/samples.ts'
import { type ApiWorld, openApiWorld } from './world.ts'

let api: ApiWorld
beforeEach(async () => {
  api = await openApiWorld()
})
afterEach(() => api.close())

const operator = 'arn:aws:sts::123456789012:assumed-role/Operators/ana'
const about = (method: string, scope: string, more: object = {}) =>
  api.ask(`${method} /halts/{scope+}`, { path: { scope }, by: operator, ...more })

describe('halts', () => {
  it('PUT sets a halt for exactly its scope, with author and reason, and the fleet shows the halt', async () => {
    const { status, body } = await about('PUT', 'repository/7', { body: { why: 'noise' } })
    expect([status, body]).toMatchObject([200, { scope: 'repository/7', by: 'Operators/ana', why: 'noise' }])
    expect(Date.parse(body.since)).toBeGreaterThan(0)
    expect(await standingHalt(api.world.ledger, repository)).toMatchObject({ scope: 'repository/7' })
    expect(await standingHalt(api.world.ledger, { ...repository, id: 8 })).toBeUndefined()
    expect((await api.fleet()).halts).toEqual([body])
    expect((await about('GET', 'repository/7')).body).toEqual(body)
  })

  it('I9: a repeated PUT keeps the first halt; a repeated DELETE lifts nothing', async () => {
    const first = await about('PUT', 'fleet', { body: { why: 'first' } })
    expect((await about('PUT', 'fleet', { body: { why: 'second' } })).body).toEqual(first.body)
    expect((await about('DELETE', 'fleet')).body).toEqual({ lifted: first.body })
    expect((await about('DELETE', 'fleet')).body).toEqual({ lifted: null })
    const { status, body } = await about('GET', 'fleet')
    expect([status, body.error.code]).toEqual([404, 'unknown_halt'])
  })

  it('PUT over a pause of a comment makes author and reason the operator’s', async () => {
    await setHalt(api.world.ledger, { scope: 'repository/7', by: pausedBy('alice'), why: 'noise', since: 1 })
    const { body } = await about('PUT', 'repository/7', { body: { why: 'leaked key' } })
    expect(body).toMatchObject({ by: 'Operators/ana', why: 'leaked key', since: '1970-01-01T00:00:00.001Z' })
    expect((await about('GET', 'repository/7')).body).toEqual(body)
  })

  it('under a halt a new review waits, even with a free slot', async () => {
    await about('PUT', 'repository/7')
    await admitted(api.world, 0)
    expect([toldParts(api.world), (await api.fleet()).waiting.tickets.length]).toEqual([[], 1])
    await about('DELETE', 'repository/7')
    expect([toldParts(api.world), (await api.fleet()).waiting.tickets.length]).toEqual([[0], 0])
  })

  it('DELETE is answered after the waiting reviews got their slots', async () => {
    await api.world.limit({ configured: 1 })
    const other = { repository: { ...repository, id: 8 }, runId: 'e'.repeat(64) }
    const working = await admitted(api.world, 9, other)
    await admitted(api.world, 0)
    await about('PUT', 'repository/7')
    await worked(api.world, working)
    expect(toldParts(api.world)).toEqual([9])
    await about('DELETE', 'repository/7')
    expect(toldParts(api.world)).toEqual([9, 0])
  })

  it('a scope of another form is refused and sets nothing', async () => {
    for (const scope of ['', 'acme/widgets', 'repository/', 'repository/07', 'repository/7/8', 'Fleet']) {
      const { status, body } = await about('PUT', scope)
      expect([scope, status, body.error.code]).toEqual([scope, 422, 'unknown_scope'])
    }
    expect((await api.fleet()).halts).toEqual([])
  })

  it('I8: a secret in a reason is not stored', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    expect((await about('PUT', 'fleet', { body: { why: `leaked ${token}` } })).body.why).toMatch(/^leaked /)
    expect(JSON.stringify(await api.world.items())).not.toContain(token)
  })

  it('a body with an unknown member is refused', async () => {
    expect((await about('PUT', 'fleet', { body: { reason: 'x' } })).body.error.code).toBe('payload_invalid')
    expect((await about('DELETE', 'fleet', { body: { why: 'x' } })).body.error.code).toBe('payload_invalid')
    expect((await api.fleet()).halts).toEqual([])
  })

  it('an unknown route is refused without an error of the function', async () => {
    const { status, body } = await api.ask('DELETE /fleet')
    expect([status, body.error.code]).toEqual([404, 'unknown_route'])
  })
})
