/** The fleet as a person reads it. */
import { expect, test } from 'vitest'
import { fleetText } from '../../cli/fleet-text.ts'
import { type FleetFacts, fleetViewOf } from '../../shared/fleet/fleet-view.ts'
import { idOf } from '../shared/coordinator/fleet-of-tests.ts'

const NOW = Date.UTC(2026, 0, 5, 9)
const facts: FleetFacts = {
  limits: {
    configured: 60,
    enabled: true,
    accountQuota: 40,
    perRepository: 3,
    pools: { external: { configured: 50 } },
  },
  slots: { [idOf(1)]: { epoch: 1, repository: 7, pool: 'lambda', since: NOW } },
  waiting: {
    tickets: [{ reviewId: idOf(2), epoch: 1, repository: 8, installation: 70, pool: 'lambda', turn: NOW + 1 }],
    cut: true,
  },
  closed: { lambda: NOW + 60_000 },
  halts: [{ scope: 'repository/7', by: 'ana', why: 'noise\u001b[2J\nmore', since: NOW }],
}

test('CE2: configured, effective and the reason stand beside each other, for the fleet, a repository and each pool', () => {
  const text = fleetText(fleetViewOf(facts))
  expect(text).toMatch(/^1 review at work, more than 1 waiting\.$/m)
  expect(text).toMatch(/^fleet +60 +40 +1 +the account allows no more$/m)
  expect(text).toMatch(/^each repository +60 +3 +limit of each repository$/m)
  expect(text).toMatch(/^external +50 +16 +0 +the pool allows no more$/m)
  expect(text).toMatch(/^lambda .*closed until 2026-01-05T09:01:00\.000Z$/m)
})

test('working and waiting reviews name their run, ready for a cancellation', () => {
  const [run] = idOf(1).split('/')
  expect(fleetText(fleetViewOf(facts))).toMatch(
    new RegExp(`^2026-01-05T09:00:00.000Z +secrets +1 +lambda +7 +${run}$`, 'm'),
  )
})

test('foreign text moves no cursor and begins no line', () => {
  const text = fleetText(fleetViewOf(facts))
  expect(text).not.toContain('\u001b')
  expect(text).toMatch(/^Halted: repository\/7, by ana since 2026-01-05T09:00:00\.000Z: noise.*more$/m)
})

test('a fleet at rest is a short table', () => {
  const rest = fleetViewOf({
    ...facts,
    limits: { configured: 15, enabled: true },
    slots: {},
    closed: {},
    halts: [],
    waiting: { tickets: [], cut: false },
  })
  expect(fleetText(rest)).toMatchInlineSnapshot(`
    "0 reviews at work, 0 waiting.

                     configured  effective  at work
    fleet                    15         15        0
    each repository          15         15
    external                 15         15        0
    lambda                   15         15        0"
  `)
})
