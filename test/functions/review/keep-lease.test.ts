import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepLease } from '../../../functions/review/keep-lease.ts'
import { isFailure } from '../../../shared/base/errors.ts'
import { endReview, leaseReview } from '../../../shared/ledger/review.ts'
import type { Review } from '../../../shared/runs/review.ts'
import { about, admitted, stored } from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'

let world: World
let review: Review
beforeEach(async () => {
  world = await startWorld()
  await admitted(world, 0)
  const leased = await leaseReview(world.ledger, await stored(world, 0), { epoch: 1, owner: 'me', now: world.now })
  if (leased.kind !== 'leased') throw new Error(`Expected a lease, got ${leased.kind}`)
  review = leased.review
  world.wire.passed.length = 0
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await world.close()
})

const keep = () => keepLease(world.ledger, review, { epoch: 1, owner: 'me', until: review.until ?? 0 }, () => world.now)
const renewals = () => world.wire.passed.filter(({ operation }) => operation === 'UpdateItem').length

/** One heartbeat later, with all its effects done. */
async function heartbeat(expected: { renewals: number }): Promise<void> {
  const { heartbeatMs } = world.ledger.timings
  world.now += heartbeatMs
  vi.advanceTimersByTime(heartbeatMs)
  await vi.waitFor(() => expect(renewals()).toBe(expected.renewals))
  // A round trip of a renewal: an earlier heartbeat would send none.
  await stored(world, 0)
}

function pass(ms: number): void {
  world.now += ms
  vi.advanceTimersByTime(ms)
}

const unreachable = () => world.wire.refuse(about('UpdateItem', 'RUN#'), 'ValidationException')

describe('keepLease', () => {
  it('AW38: renews at every heartbeat, for as long as the work takes', async () => {
    const kept = keep()
    for (const count of [1, 2, 3, 4, 5]) await heartbeat({ renewals: count })
    await kept.stop()
    expect(kept.signal.aborted).toBe(false)
    expect((await stored(world, 0)).until).toBe(world.now + world.ledger.timings.reviewLeaseMs)
  })

  it('AW38: lets the work go on with unconfirmed renewals, but not beyond the confirmed end', async () => {
    const kept = keep()
    unreachable()
    await heartbeat({ renewals: 1 })
    await heartbeat({ renewals: 2 })
    expect(kept.signal.aborted).toBe(false)
    await heartbeat({ renewals: 2 })
    expect(kept.signal.aborted).toBe(true)
    expect(isFailure(kept.signal.reason, 'stale_fence')).toBe(true)
    await kept.stop()
  })

  it('AW38: moves the end on with every confirmed renewal', async () => {
    const kept = keep()
    const stop = unreachable()
    await heartbeat({ renewals: 1 })
    stop()
    await heartbeat({ renewals: 2 })
    await vi.waitFor(async () => expect((await stored(world, 0)).until).toBeGreaterThan(review.until ?? 0))
    unreachable()
    await heartbeat({ renewals: 3 })
    await heartbeat({ renewals: 4 })
    expect(kept.signal.aborted).toBe(false)
    await kept.stop()
  })

  it('AW38: counts a renewal from its request, however late the answer', async () => {
    const { heartbeatMs, reviewLeaseMs } = world.ledger.timings
    const kept = keep()
    const askedAt = world.now + heartbeatMs
    world.wire.beforeAnswer(about('UpdateItem', 'RUN#'), async () => {
      world.now += heartbeatMs
    })
    await heartbeat({ renewals: 1 })
    await vi.waitFor(async () => expect((await stored(world, 0)).until).toBe(askedAt + reviewLeaseMs))
    await kept.stop()
    kept.assertHeld()
    world.now = askedAt + reviewLeaseMs
    expect(() => kept.assertHeld()).toThrow(/stale_fence/)
  })

  it('LE2, AW40: gives up at once a lease taken away, and renews no more', async () => {
    const kept = keep()
    await endReview(world.ledger, review)
    world.wire.passed.length = 0
    await heartbeat({ renewals: 1 })
    await vi.waitFor(() => expect(kept.signal.aborted).toBe(true))
    await heartbeat({ renewals: 1 })
    await kept.stop()
    expect(renewals()).toBe(1)
    expect(await stored(world, 0)).toMatchObject({ state: 'ended', epoch: 2 })
  })

  it('AW38: ends an unconfirmed lease at its end, also between two heartbeats', async () => {
    const { heartbeatMs } = world.ledger.timings
    const kept = keepLease(
      world.ledger,
      review,
      { epoch: 1, owner: 'me', until: world.now + 1.5 * heartbeatMs },
      () => world.now,
    )
    unreachable()
    await heartbeat({ renewals: 1 })
    pass(0.5 * heartbeatMs - 1)
    expect(kept.signal.aborted).toBe(false)
    kept.assertHeld()
    pass(1)
    expect(kept.signal.aborted).toBe(true)
    expect(() => kept.assertHeld()).toThrow(/stale_fence/)
    await kept.stop()
  })

  it('AW38: tells a worker that slept beyond the end before its next effect, even without a timer', () => {
    const kept = keep()
    world.now += world.ledger.timings.reviewLeaseMs
    expect(() => kept.assertHeld()).toThrow(/stale_fence/)
    expect(kept.signal.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sends nothing more once stopped, neither a renewal under way nor a later one', async () => {
    const kept = keep()
    vi.advanceTimersByTime(world.ledger.timings.heartbeatMs)
    await kept.stop()
    expect(vi.getTimerCount()).toBe(0)
    const sent = renewals()
    vi.advanceTimersByTime(10 * world.ledger.timings.heartbeatMs)
    expect(renewals()).toBe(sent)
    expect(kept.signal.aborted).toBe(false)
  })
})
