import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { REVIEW_LOSSES_MAX } from '../../../shared/base/limits.ts'
import {
  awaitGrant,
  completeReview,
  endReview,
  grantReview,
  leaseReview,
  readReview,
  readReviews,
  releaseReview,
  renewLease,
  settleDone,
  takeBack,
} from '../../../shared/ledger/review.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Review } from '../../../shared/runs/review.ts'
import { wantedReview } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const wanted = wantedReview(0)
const outcome = { state: 'completed', result: 'digest-a', findings: 2, blocking: 1 } as const

const admit = (changes: Partial<Review> = {}) =>
  awaitGrant(world.ledger, wantedReview(0, changes) as typeof wanted, { writer: `w-${Math.random()}`, now: world.now })
const grant = (epoch = 1) => grantReview(world.ledger, { name: wanted, epoch }, world.now)
const lease = (owner: string, epoch = 1) => leaseReview(world.ledger, wanted, { epoch, owner, now: world.now })
const renew = (owner: string, epoch = 1) =>
  renewLease(world.ledger, wanted, { epoch, owner, now: world.now }, AbortSignal.timeout(5_000))
const complete = (owner: string, epoch = 1, as: Parameters<typeof completeReview>[3] = outcome) =>
  completeReview(world.ledger, wanted, { epoch, owner }, as)
const item = () => world.item(keyOf.review(wanted))

async function stored(): Promise<Review> {
  const review = await readReview(world.ledger, wanted)
  if (!review) throw new Error('Expected the review to be stored, found none')
  return review
}

/** Admitted, granted and leased by `owner`. */
async function leased(owner: string): Promise<Review> {
  await admit()
  await grant()
  expect((await lease(owner)).kind).toBe('leased')
  return stored()
}

/** The review is taken back after its grant or lease has ended. */
async function lose(): Promise<Review> {
  const review = await stored()
  world.now = (review.until ?? 0) + 1
  const taken = await takeBack(world.ledger, review, world.now)
  expect(taken.taken).toBe(true)
  expect(taken.review).toEqual(await stored())
  return taken.review
}

describe('awaitGrant', () => {
  it('a review waits at its first epoch, and is due', async () => {
    const review = await admit()
    expect(review).toEqual(await stored())
    expect(review).toMatchObject({ state: 'waiting', epoch: 1, token: 'token-0' })
    expect(await item()).toMatchObject({ dueAt: world.now + world.ledger.timings.grantMs })
  })

  it('IL9: a repeated Admit adds its token and changes nothing else, also if the call comes late', async () => {
    await admit()
    for (const [step, kept] of [
      [() => Promise.resolve(), 'token-0'],
      [() => grant(), 'token-0 before-grant'],
      [() => lease('a'), undefined], // the earlier tokens were answered with the grant
    ] as const) {
      await step()
      const before = await item()
      expect(before?.token).toBe(kept)
      const token = kept === 'token-0' ? 'before-grant' : 'later'
      const again = await admit({ token })
      expect(again).toEqual(await stored())
      expect(await item()).toEqual({ ...before, token: kept === undefined ? token : `${kept} ${token}` })
      expect(await admit({ token })).toEqual(again)
    }
  })

  it.each(['waiting', 'granted', 'leased'] as const)(
    'I8: an Admit’s write that arrives once more brings no dead token back, while %s',
    async (state) => {
      await admit()
      if (state !== 'waiting') await grant()
      if (state === 'leased') await lease('a')
      await admit({ token: 'second' })
      const late = world.wire.passed.findLast(({ operation }) => operation === 'UpdateItem')
      await admit({ token: 'third' })
      const arriving = world.ledger.client.send(new UpdateItemCommand(late?.body as unknown as UpdateItemCommandInput))
      await expect(arriving).rejects.toThrow('conditional')
      expect(await stored()).toMatchObject({ state, token: `${state === 'leased' ? '' : 'token-0 '}second third` })
    },
  )

  it('AW32: a new token whose answer is lost stands, and is answered as written', async () => {
    await admit()
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect(await admit({ token: 'second' })).toEqual(await stored())
    expect(await stored()).toMatchObject({ state: 'waiting', epoch: 1, token: 'token-0 second' })
  })

  it('LE12, LE16: a completed review is reused by every later attempt', async () => {
    await leased('a')
    await complete('a')
    const before = await item()
    expect(await admit({ attempt: 2, token: 'later' })).toMatchObject({ state: 'completed', result: 'digest-a' })
    expect(await item()).toEqual(before)
  })

  it('LE16: a failed review waits again in the next attempt, at a later epoch, with nothing of the last one left', async () => {
    await leased('a')
    await complete('a', 1, { state: 'failed', reason: { code: 'lens_failed', sentence: 'It failed.' } })
    expect(await admit()).toMatchObject({ state: 'failed' })
    const again = await admit({ attempt: 2, token: 'later', turn: 9 })
    expect(again).toEqual(await stored())
    expect(again).toMatchObject({ state: 'waiting', attempt: 2, epoch: 2, token: 'later', turn: 9 })
    for (const member of ['owner', 'until', 'reason', 'losses']) expect(again).not.toHaveProperty(member)
  })

  it.each(['granted', 'leased'] as const)(
    'LE16: one that an earlier attempt left %s waits again at a later epoch',
    async (state) => {
      await admit()
      await grant()
      if (state === 'leased') await lease('a')
      expect(await admit({ attempt: 2, token: 'later' })).toEqual(await stored())
      expect(await stored()).toMatchObject({ state: 'waiting', attempt: 2, epoch: 2 })
      expect(await complete('a')).toEqual({ kind: 'stale' })
    },
  )

  it('IL11: an Admit of an earlier attempt changes nothing of the later attempt', async () => {
    await admit({ attempt: 2, token: 'later' })
    const before = await item()
    expect(await admit({ attempt: 1 })).toMatchObject({ state: 'ended' })
    expect(await item()).toEqual(before)
  })

  it('AW32: the first write whose answer is lost stands once, at epoch 1', async () => {
    world.wire.loseAnswer(({ operation }) => operation === 'PutItem')
    expect(await admit()).toMatchObject({ state: 'waiting', epoch: 1 })
    expect(await world.items()).toHaveLength(1)
  })
})

describe('grantReview', () => {
  it('a waiting review is granted at its epoch, until a time; a repetition answers the same', async () => {
    await admit()
    const granted = await grant()
    expect(granted).toMatchObject({ state: 'granted', until: world.now + world.ledger.timings.grantMs })
    world.now += 5
    expect(await grant()).toEqual(granted)
  })

  it('IL9: a ticket of another epoch is void, and changes nothing', async () => {
    await admit()
    await grant()
    await lose()
    const before = await item()
    expect(await grant(1)).toBeUndefined()
    expect(await grant(3)).toBeUndefined()
    expect(await item()).toEqual(before)
  })

  it('a ticket of a review that is done, or was never asked for, is void', async () => {
    expect(await grant()).toBeUndefined()
    await leased('a')
    await complete('a')
    expect(await grant()).toBeUndefined()
    expect(await world.items()).toHaveLength(1)
  })
})

describe('the lease', () => {
  it('AW23, I8: exactly one of two workers gets the lease; the other gets lease_held and takes nothing', async () => {
    await admit()
    await grant()
    const [a, b] = await Promise.all([lease('a'), lease('b')])
    expect([a.kind, b.kind].toSorted()).toEqual(['held', 'leased'])
    const [holder, refused] = a.kind === 'leased' ? ['a', 'b'] : ['b', 'a']
    expect(await complete(refused)).toEqual({ kind: 'stale' })
    expect(await renew(refused)).toBe(false)
    expect((await lease('c')).kind).toBe('held')
    expect(await stored()).toMatchObject({ state: 'leased', owner: holder })
  })

  it('AW32: a worker whose answer was lost holds the lease', async () => {
    await admit()
    await grant()
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect((await lease('a')).kind).toBe('leased')
  })

  it('a lease needs a granted review at its epoch', async () => {
    expect((await lease('a')).kind).toBe('stale')
    await admit()
    expect((await lease('a')).kind).toBe('stale')
    await grant()
    expect((await lease('a', 2)).kind).toBe('stale')
    expect((await lease('a', 1)).kind).toBe('leased')
  })

  it('LE3: a done review is neither renewed nor leased again', async () => {
    await leased('a')
    await complete('a')
    const before = await item()
    expect(await renew('a')).toBe(false)
    expect((await lease('a')).kind).toBe('stale')
    expect(await item()).toEqual(before)
  })

  it('AW40: a late heartbeat does not revive a released review', async () => {
    await leased('a')
    await lose()
    const before = await item()
    expect(await renew('a')).toBe(false)
    expect(await item()).toEqual(before)
  })

  it('I8: a worker at a later epoch is not renewed or completed by its earlier epoch', async () => {
    await leased('a')
    await lose()
    await admit({ token: 'second' })
    await grant(2)
    await lease('a', 2)
    const before = await item()
    expect(await renew('a', 1)).toBe(false)
    expect(await complete('a', 1)).toEqual({ kind: 'stale' })
    expect(await item()).toEqual(before)
  })

  it('a renewal moves the end of the lease, and the recheck with the end', async () => {
    await leased('a')
    world.now += 60_000
    expect(await renew('a')).toBe(true)
    const until = world.now + world.ledger.timings.reviewLeaseMs
    expect(await item()).toMatchObject({ until, dueAt: until, owner: 'a' })
  })
})

describe('completeReview', () => {
  it('RC2, I9: a repeated result is a replay: one row, no change', async () => {
    await leased('a')
    expect(await complete('a')).toEqual({ kind: 'completed' })
    const before = await world.items()
    expect(await complete('a')).toEqual({ kind: 'replay' })
    expect(await world.items()).toEqual(before)
  })

  it('RC3: another result for the same completion is a conflict, and the first stays', async () => {
    await leased('a')
    await complete('a')
    expect(await complete('a', 1, { ...outcome, result: 'digest-b' })).toEqual({ kind: 'outcome_conflict' })
    const reason = { code: 'lens_failed', sentence: 'It failed.' } as const
    expect(await complete('a', 1, { state: 'failed', reason })).toEqual({ kind: 'outcome_conflict' })
    expect(await stored()).toMatchObject({ state: 'completed', result: 'digest-a' })
  })

  it('LE2, RC5: after a takeover the first worker renews and completes in vain, and learns nothing of the second', async () => {
    await leased('a')
    await lose()
    await admit({ token: 'second' })
    await grant(2)
    await lease('b', 2)
    const before = await item()
    expect(await renew('a')).toBe(false)
    expect(await complete('a')).toEqual({ kind: 'stale' })
    expect(await complete('a', 2)).toEqual({ kind: 'stale' })
    expect(await item()).toEqual(before)
    expect((await complete('b', 2)).kind).toBe('completed')
    expect(await complete('a')).toEqual({ kind: 'stale' })
  })

  it('a late worker without a successor may complete, because no clock decides', async () => {
    await leased('a')
    world.now += 10 * world.ledger.timings.reviewLeaseMs
    expect((await complete('a')).kind).toBe('completed')
  })

  it('AW26: a completion whose answer was lost is not done twice: the retry is a replay', async () => {
    await leased('a')
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect((await complete('a')).kind).toBe('replay')
    expect(await stored()).toMatchObject({ state: 'completed', result: 'digest-a' })
  })

  it('a repeated Admit is answered, by a replay too, until its token is settled', async () => {
    const review = await leased('a')
    await admit({ token: 'waits' })
    world.wire.loseAnswer(({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('waits'))
    expect(await complete('a')).toEqual({ kind: 'replay', token: 'waits' })
    expect(await item()).toMatchObject({ state: 'completed', dueAt: review.until })
    await settleDone(world.ledger, { ...(await stored()), token: 'another' })
    expect((await complete('a')).token).toBe('waits')
    await settleDone(world.ledger, await stored())
    expect(await complete('a')).toEqual({ kind: 'replay' })
    for (const member of ['token', 'dueAt', 'duePk']) expect(await item()).not.toHaveProperty(member)
  })

  it('an Admit between the decision to complete and the write is not overlooked', async () => {
    await leased('a')
    world.wire.beforeAnswer(
      ({ operation }) => operation === 'UpdateItem',
      async () => {
        await admit({ token: 'too-late' })
      },
    )
    expect(await complete('a')).toEqual({ kind: 'completed' })
    expect(await item()).not.toHaveProperty('token') // an Admit after the completion answers itself
  })

  it('is due no more', async () => {
    await leased('a')
    await complete('a')
    expect(await item()).not.toHaveProperty('dueAt')
    expect(await item()).not.toHaveProperty('until')
  })
})

describe('takeBack', () => {
  it.each(['granted', 'leased'] as const)(
    'AW29, AW41: %s, it is taken back one millisecond after its end, not at it',
    async (state) => {
      await admit()
      await grant()
      if (state === 'leased') await lease('a')
      const review = await stored()
      const until = review.until ?? 0
      const before = await item()
      expect((await takeBack(world.ledger, review, until - 1)).taken).toBe(false)
      expect((await takeBack(world.ledger, review, until)).taken).toBe(false)
      expect(await item()).toEqual(before)
      expect((await takeBack(world.ledger, review, until + 1)).taken).toBe(true)
      expect(await stored()).toMatchObject({ epoch: 2 })
    },
  )

  it('AW37: the second worker works at once after the first worker’s death and the end of the lease', async () => {
    await leased('a')
    await lose()
    await admit({ token: 'second' })
    await grant(2)
    expect((await lease('b', 2)).kind).toBe('leased')
  })

  it('a renewed lease is not taken back', async () => {
    const seen = await leased('a')
    world.now = (seen.until ?? 0) - 1
    await renew('a')
    expect((await takeBack(world.ledger, seen, world.now + 2)).taken).toBe(false)
    expect((await complete('a')).kind).toBe('completed')
  })

  it('waits again while a task waits for it, and else is planned until Admit comes', async () => {
    await admit()
    await grant()
    expect(await lose()).toMatchObject({ state: 'waiting', epoch: 2, token: 'token-0' })
    await grant(2)
    await lease('a', 2)
    expect(await lose()).toMatchObject({ state: 'planned', epoch: 3 })
    expect(await item()).not.toHaveProperty('dueAt')
    expect(await admit({ token: 'next' })).toMatchObject({ state: 'waiting', epoch: 3, token: 'next' })
  })

  it('AW32: a take-back whose answer was lost counts as done by this call', async () => {
    const review = await leased('a')
    await admit({ token: 'second' })
    const seen = await stored()
    world.now = (review.until ?? 0) + 1
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    const { taken, review: current } = await takeBack(world.ledger, seen, world.now)
    expect(taken).toBe(true)
    expect(current).toEqual(await stored())
    expect(current).toMatchObject({ state: 'waiting', epoch: 2, losses: 1 })
  })

  it('AW41: a taker whose clock is five minutes ahead costs the work, and no result', async () => {
    const review = await leased('a')
    expect((await takeBack(world.ledger, review, world.now + 5 * 60_000)).taken).toBe(true)
    expect(await renew('a')).toBe(false)
    expect(await complete('a')).toEqual({ kind: 'stale' })
  })

  it('two sweepers take a review back once', async () => {
    const review = await leased('a')
    const after = (review.until ?? 0) + 1
    const both = await Promise.all([takeBack(world.ledger, review, after), takeBack(world.ledger, review, after)])
    expect(both.filter(({ taken }) => taken)).toHaveLength(1)
    expect(await stored()).toMatchObject({ epoch: 2, losses: 1 })
  })

  it('is given up when as many workers were lost as may be, and says so', async () => {
    await admit()
    for (let epoch = 1; epoch < REVIEW_LOSSES_MAX; epoch += 1) {
      await grant(epoch)
      expect(await lose()).toMatchObject({ state: 'waiting', losses: epoch })
    }
    await grant(REVIEW_LOSSES_MAX)
    expect(await lose()).toMatchObject({
      state: 'failed',
      reason: { code: 'lease_lost_too_often', sentence: `Its worker was lost ${REVIEW_LOSSES_MAX} times.` },
    })
    // Due until the waiting task is told.
    expect(await item()).toMatchObject({ token: 'token-0', dueAt: world.now + world.ledger.timings.grantMs })
  })

  it('a later attempt starts without losses at a higher epoch', async () => {
    await admit()
    for (let epoch = 1; epoch < REVIEW_LOSSES_MAX; epoch += 1) {
      await grant(epoch)
      await lose()
    }
    await admit({ attempt: 2, token: 'later' })
    const { epoch } = await stored()
    await grant(epoch)
    expect(await lose()).toMatchObject({ state: 'waiting', losses: 1, epoch: epoch + 1 })
  })
})

describe('releaseReview', () => {
  const release = (owner: string, epoch = 1) => releaseReview(world.ledger, wanted, { epoch, owner, now: world.now })

  it('AW40: a released review is not revived by a late heartbeat, nor completed, nor leased at its old epoch', async () => {
    await leased('a')
    expect(await release('a')).toEqual(await stored())
    expect(await stored()).toMatchObject({ state: 'planned', epoch: 2 })
    const before = await item()
    for (const member of ['owner', 'until', 'losses', 'dueAt']) expect(before).not.toHaveProperty(member)
    expect(await renew('a')).toBe(false)
    expect(await complete('a')).toEqual({ kind: 'stale' })
    expect((await lease('a')).kind).toBe('stale')
    expect(await item()).toEqual(before)
  })

  it('waits again, and is due, where an Admit came meanwhile; its own lost try is known again', async () => {
    await leased('a')
    await admit({ token: 'waits' })
    world.wire.loseAnswer(({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('waits'))
    expect(await release('a')).toMatchObject({ state: 'waiting', epoch: 2, token: 'waits' })
    expect(await item()).toMatchObject({ dueAt: world.now + world.ledger.timings.grantMs })
  })

  it('AW23: a worker without the lease releases nothing', async () => {
    await leased('a')
    const before = await item()
    expect(await release('b')).toBeUndefined()
    expect(await release('a', 2)).toBeUndefined()
    expect(await item()).toEqual(before)
  })
})

describe('a write without an answer', () => {
  const isUpdate = ({ operation }: { operation: string }) => operation === 'UpdateItem'
  /** All of the SDK's own tries are lost after they were done. */
  const loseAll = () => {
    for (const _ of [1, 2, 3]) world.wire.loseAnswer(isUpdate)
  }
  /** None of the SDK's own tries reaches the table. */
  const refuseAll = () => world.wire.refuse(isUpdate, 'InternalServerError')

  it('AW26, AW32: the item is read back: a taken lease is held, a done completion stands', async () => {
    await admit()
    await grant()
    loseAll()
    expect((await lease('a')).kind).toBe('leased')
    loseAll()
    expect(await renew('a')).toBe(true)
    loseAll()
    expect(await complete('a')).toEqual({ kind: 'replay' })
    expect(await stored()).toMatchObject({ state: 'completed', owner: 'a', result: 'digest-a' })
  })

  it('a write that the item doesn’t show is repeated', async () => {
    await leased('a')
    const stop = refuseAll()
    const completing = complete('a')
    await vi.waitFor(() => expect(world.wire.passed.filter(isUpdate).length).toBeGreaterThan(3))
    expect(await stored()).toMatchObject({ state: 'leased' })
    stop()
    expect(await completing).toEqual({ kind: 'completed' })
  })

  it('whose item cannot be read either is unknown, and never taken for a refusal', async () => {
    await leased('a')
    const stops = [refuseAll(), world.wire.refuse(({ operation }) => operation === 'GetItem', 'InternalServerError')]
    const unknown = { name: 'retry', code: 'busy', outcomeUnknown: true }
    await expect(complete('a')).rejects.toMatchObject(unknown)
    await expect(renew('a')).rejects.toMatchObject(unknown)
    for (const stop of stops) stop()
    expect(await stored()).toMatchObject({ state: 'leased', owner: 'a' })
  })
})

describe('endReview', () => {
  it('I8: an end raises the epoch, so that the worker changes nothing more, and answers the waiting task', async () => {
    const review = await leased('a')
    await admit({ token: 'waits' })
    expect(await endReview(world.ledger, review)).toEqual(await stored())
    expect(await stored()).toMatchObject({ state: 'ended', epoch: 2, token: 'waits' })
    const before = await item()
    expect(before).toHaveProperty('dueAt')
    expect(await complete('a')).toEqual({ kind: 'stale' })
    expect(await renew('a')).toBe(false)
    expect(await endReview(world.ledger, review)).toEqual(await stored())
    expect(await item()).toEqual(before)
    await settleDone(world.ledger, await stored())
    for (const member of ['dueAt', 'owner', 'until', 'token']) expect(await item()).not.toHaveProperty(member)
  })

  it('AW32: an end whose answer was lost still answers the waiting task', async () => {
    const review = await leased('a')
    await admit({ token: 'waits' })
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect(await endReview(world.ledger, review)).toMatchObject({ state: 'ended', token: 'waits' })
  })

  it('LE12: a completed review stays completed', async () => {
    const seen = await leased('a')
    await complete('a')
    await endReview(world.ledger, seen)
    expect(await stored()).toMatchObject({ state: 'completed', epoch: 1 })
  })

  it('IL11: ends nothing of a later attempt', async () => {
    const seen = await leased('a')
    await admit({ attempt: 2, token: 'later' })
    await endReview(world.ledger, seen)
    expect(await stored()).toMatchObject({ state: 'waiting', attempt: 2 })
  })
})

describe('readReviews', () => {
  it('RC1: the reviews of a run, or of one plan key, are read without reviews of other runs', async () => {
    for (const changes of [{}, { planKey: 'b'.repeat(64) }, { runId: 'c'.repeat(64) }]) await admit(changes)
    expect(await readReviews(world.ledger, wanted.runId)).toHaveLength(2)
    expect(await readReviews(world.ledger, wanted.runId, wanted.planKey)).toEqual([await stored()])
  })
})
