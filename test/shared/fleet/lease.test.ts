import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { REVIEW_LOSSES_MAX } from '../../../shared/base/limits.ts'
import {
  type Answered,
  acquire,
  after,
  complete,
  type Fence,
  isLost,
  type LeaseItem,
  type LeaseStep,
  type LostWorker,
  type ReviewOutcome,
  release,
  renew,
  takeBack,
} from '../../../shared/fleet/lease.ts'
import { isDone, type Review } from '../../../shared/runs/review.ts'
import { wantedReview } from '../samples.ts'

const NOW = Date.UTC(2026, 0, 5, 9)
const LEASE_MS = 180_000
const me: Fence = { epoch: 3, owner: 'me' }
const outcome = { state: 'completed', result: 'digest', findings: 2, blocking: 1 } as const

const { token: _token, ...untold } = wantedReview(0)
const item = (changes: Partial<LeaseItem> = {}): LeaseItem => ({ ...untold, state: 'granted', epoch: 3, ...changes })
const leased = (changes: Partial<LeaseItem> = {}) =>
  item({ state: 'leased', owner: 'me', until: NOW + LEASE_MS, ...changes })
const recheckAt = NOW + 1
const taking = (review: Review, now = NOW, lost?: LostWorker) =>
  takeBack(review, { now, writer: 'nonce', recheckAt, ...(lost ? { lost } : {}) })

/** The table's part: the item after the step, or undefined if a condition doesn't hold. */
function write(before: LeaseItem, step: LeaseStep): LeaseItem | undefined {
  const holds = Object.entries(step.if).every(([member, value]) => before[member as keyof LeaseItem] === value)
  return holds ? after(before, step) : undefined
}

describe('acquire', () => {
  const step = acquire(me, NOW + LEASE_MS)

  it('takes a granted review in the worker’s name; the token of its grant goes', () => {
    expect(write(item({ token: 't' }), step)).toEqual(leased())
    expect(step.recheckAt).toBe(NOW + LEASE_MS)
  })

  it.each([
    ['is leased by another worker', leased({ owner: 'other' }), { kind: 'refused', code: 'lease_held' }],
    ['is at another epoch', item({ epoch: 4 }), { kind: 'refused', code: 'stale_fence' }],
    ['waits', item({ state: 'waiting' }), { kind: 'refused', code: 'stale_fence' }],
    ['is done', item({ state: 'completed', owner: 'me' }), { kind: 'refused', code: 'stale_fence' }],
    ['is missing', undefined, { kind: 'refused', code: 'stale_fence' }],
    ['is leased by the same worker: its own first try was refused (AW32)', leased(), { kind: 'done' }],
    ['is still granted: the unanswered write may yet arrive', item(), { kind: 'unknown' }],
  ] as const)('acquire finds that the review %s', (_, seen, answer) => {
    expect(step.answerOf(seen)).toEqual(answer)
    if (answer.kind === 'refused' && seen) expect(write(seen, step)).toBeUndefined()
  })
})

describe('renew, complete and release', () => {
  const steps = {
    renew: renew(me, NOW + 2 * LEASE_MS),
    complete: complete(me, outcome, undefined),
    release: release(me, undefined, recheckAt),
  }
  const entries = Object.entries(steps)

  it.each(entries)('%s: has no condition on a clock: a worker not replaced may be late', (_, step) => {
    expect(write(leased({ until: 0 }), step)).toBeDefined()
  })

  it.each(entries)(
    'AW23, AW40, LE2, LE3: %s: changes nothing without the fence, and is refused as stale',
    (_, step) => {
      const strangers = [
        leased({ owner: 'other' }),
        leased({ epoch: 4 }),
        leased({ epoch: 2 }),
        item(),
        item({ state: 'planned', epoch: 4 }),
        item({ state: 'ended', epoch: 4 }),
        item({ state: 'completed', owner: 'other', result: 'digest' }),
      ]
      for (const seen of strangers) {
        expect(write(seen, step)).toBeUndefined()
        expect(step.answerOf(seen)).toEqual({ kind: 'refused', code: 'stale_fence' })
      }
    },
  )

  it.each(entries)('%s: unanswered and without effect, is unknown', (_, step) => {
    expect(step.answerOf(leased())).toEqual({ kind: 'unknown' })
  })

  it.each(entries)('%s: unanswered and with effect, is done', (_, step) => {
    expect(step.answerOf(write(leased(), step))).toEqual({ kind: 'done' })
  })

  it('RC2, RC3: the same content again is done, other content a conflict', () => {
    const done = write(leased(), steps.complete)
    expect(complete(me, outcome, 'any').answerOf(done)).toEqual({ kind: 'done' })
    const failed: ReviewOutcome = { state: 'failed', reason: { code: 'lens_failed', sentence: 'It failed.' } }
    for (const other of [{ ...outcome, result: 'other' }, failed]) {
      expect(complete(me, other, undefined).answerOf(done)).toEqual({ kind: 'refused', code: 'outcome_conflict' })
    }
    const failure = write(leased(), complete(me, failed, undefined))
    expect(complete(me, failed, undefined).answerOf(failure)).toEqual({ kind: 'done' })
  })

  it('a completed review is due no more, unless a second Admit waits for its answer', () => {
    expect(steps.complete.recheckAt).toBe('never')
    expect(complete(me, outcome, 'waits')).not.toHaveProperty('recheckAt')
    // Decided before the second Admit came: must not overwrite its token.
    expect(write(leased({ token: 'waits' }), steps.complete)).toBeUndefined()
    expect(write(leased({ token: 'waits' }), complete(me, outcome, 'waits'))).toMatchObject({ token: 'waits' })
  })

  it('a released review waits again at the next epoch if a token does, and no loss is counted', () => {
    expect(write(leased(), steps.release)).toEqual(item({ state: 'planned', epoch: 4, writer: 'me' }))
    const told = release(me, 'waits', recheckAt)
    expect(write(leased({ token: 'waits' }), told)).toMatchObject({ state: 'waiting', epoch: 4, token: 'waits' })
    expect(told.recheckAt).toBe(recheckAt)
  })
})

describe('isLost', () => {
  const owner = '8f5a1c9e-5f0a-4c57-9d0f-3f5e6a1b2c3d'
  const held = leased({ owner })
  const exit = JSON.stringify({
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${owner} Error: Runtime exited`,
  })
  const timeout = `Returned payload: {"errorMessage":"2026-01-05T09:00:00.000Z ${owner} Task timed out after 900.00 seconds"}`

  it.each([exit, timeout])('a lease whose owner Lambda names as dead is lost: %s', (cause) => {
    expect(isLost(held, { epoch: 3, cause })).toBe(true)
  })

  it('a grant whose own worker crashed before its lease is lost, whatever Lambda said', () => {
    expect(isLost(item(), { epoch: 3, cause: 'The cause could not be determined.' })).toBe(true)
  })

  it.each([
    ['Lambda names another invocation', held, { epoch: 3, cause: exit.replace('8f5a', '0000') }],
    ['Lambda names no invocation', held, { epoch: 3, cause: '' }],
    ['the lease has no owner', leased({ owner: undefined as never }), { epoch: 3, cause: 'undefined' }],
    ['the crash was at an earlier epoch', held, { epoch: 2, cause: exit }],
    ['the crash was at an earlier grant', item({ until: NOW }), { epoch: 2, cause: exit }],
    ['no worker crashed', item({ epoch: 1, until: NOW }), { epoch: 0, cause: '' }],
    ['the review waits', item({ state: 'waiting' }), { epoch: 3, cause: exit }],
    ['the review is done', item({ state: 'completed', owner }), { epoch: 3, cause: exit }],
  ] as const)('a crash proves nothing if %s', (_, review, lost) => {
    expect(isLost(review, lost)).toBe(false)
    if (!isDone(review.state)) expect(taking(review, NOW, lost)).toBeUndefined()
  })
})

describe('takeBack', () => {
  it.each(['granted', 'leased'] as const)(
    'AW29: a %s review is taken back a millisecond after its end, not at its end',
    (state) => {
      expect(taking(item({ state, until: NOW }))).toBeUndefined()
      expect(taking(item({ state, until: NOW - 1 }))).toBeDefined()
    },
  )

  it.each(['planned', 'waiting', 'completed', 'failed', 'ended'] as const)('a %s review is not taken back', (state) => {
    expect(taking(item({ state, until: 0 }))).toBeUndefined()
  })

  it.each([
    ['an ended lease', leased({ until: NOW - 1 }), undefined],
    ['a dead worker’s lease', leased(), { epoch: 3, cause: 'RequestId: me' }],
  ] as const)(
    'the take-back of %s is refused after any change since: renewed, leased, told, taken',
    (_, seen, lost) => {
      const step = taking(seen, NOW, lost)
      expect(step && write(seen, step)).toMatchObject({ epoch: 4, losses: 1 })
      const since = [{ until: NOW }, { state: 'granted' }, { token: 't' }, { epoch: 4 }, { owner: 'other' }] as const
      for (const changes of since) {
        const now = { ...seen, ...changes }
        expect(step && write(now, step)).toBeUndefined()
        expect(step?.answerOf(now)).toEqual({ kind: 'refused', code: 'stale_fence' })
      }
    },
  )

  it('AW32: recognises its own first try by its nonce, even after further steps, and never another writer’s', () => {
    const seen = leased({ until: NOW - 1, token: 't' })
    const step = taking(seen)
    const taken = step && write(seen, step)
    expect(taken).toMatchObject({ state: 'waiting', epoch: 4, losses: 1, token: 't' })
    expect(step?.answerOf(taken)).toEqual({ kind: 'done' })
    expect(step?.answerOf(taken && { ...taken, state: 'granted', until: NOW })).toEqual({ kind: 'done' })
    expect(step?.answerOf(taken && { ...taken, writer: 'other' })).toEqual({ kind: 'refused', code: 'stale_fence' })
    expect(step?.answerOf(seen)).toEqual({ kind: 'unknown' })
  })

  it('after the last loss the review has failed, and is due while a token waits', () => {
    const seen = leased({ until: 0, losses: REVIEW_LOSSES_MAX - 1 })
    expect(taking(seen)).toMatchObject({ set: { state: 'failed', epoch: 4 }, recheckAt: 'never' })
    expect(taking({ ...seen, token: 't' })).toMatchObject({ set: { state: 'failed', epoch: 4 }, recheckAt })
  })
})

/** The fate of a call at the wire; `late` arrives when released, `twice` is repeated by the SDK after a lost answer. */
const fates = ['answered', 'answered', 'lost', 'twice', 'late'] as const
const takings = ['takeBack', 'takeBackLost'] as const
const kinds = ['acquire', 'acquire', 'renew', 'complete', 'complete', 'release', 'takeBack', ...takings] as const

interface Call {
  readonly kind: (typeof kinds)[number]
  readonly owner: number
  readonly fate: (typeof fates)[number]
}
type Move =
  | Call
  | { readonly kind: 'admit' | 'grant' | 'arrive' | 'look' }
  | { readonly kind: 'pass'; readonly ms: number }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom(...kinds), owner: fc.nat(2), fate: fc.constantFrom(...fates) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('admit' as const, 'grant' as const, 'arrive' as const, 'look' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 2 * LEASE_MS }) }),
  },
)

/** A step under way, with its owner and its writer's view. */
interface Sent {
  readonly id: number
  readonly kind: Call['kind']
  readonly fence: Fence
  readonly now: number
  readonly step: LeaseStep
}

/** One review, three owners whose clocks are up to five minutes apart, and a wire that loses, repeats and delays. */
class Model {
  item: LeaseItem = item({ state: 'waiting', epoch: 1, token: 'token-0' })
  /** The item as read by a take-back, perhaps a while ago. */
  seen = this.item
  now = NOW
  /** The last granted epoch. */
  granted = 0
  readonly skews: readonly number[]
  /** The last lease of each owner, as told. */
  readonly fences: Fence[]
  readonly underWay: Sent[] = []
  /** Calls with an effect, and calls told of a refusal. */
  readonly effects = new Set<number>()
  readonly refused = new Set<number>()
  readonly takers = new Map<number, number>()
  adopted: { epoch: number; result: string | undefined } | undefined
  calls = 0

  constructor(skews: readonly number[]) {
    this.skews = skews
    this.fences = skews.map((_, owner) => ({ epoch: 0, owner: `owner-${owner}` }))
  }

  play(move: Move): void {
    switch (move.kind) {
      case 'admit':
        if (isDone(this.item.state)) return
        this.item = { ...this.item, token: `token-${this.calls}` }
        if (this.item.state === 'planned') this.item = { ...this.item, state: 'waiting' }
        return
      case 'grant':
        if (this.item.state !== 'waiting') return
        this.item = { ...this.item, state: 'granted', until: this.now + LEASE_MS }
        this.granted = this.item.epoch
        return
      case 'arrive': {
        const sent = this.underWay.shift()
        if (sent) this.arrive(sent)
        return
      }
      case 'look':
        this.seen = this.item
        return
      case 'pass':
        this.now += move.ms
        return
      default:
        this.call(move)
    }
  }

  private call({ kind, owner, fate }: Call): void {
    const sent = this.sent(kind, owner)
    if (!sent) return
    const answered = this.answerTo(sent, fate)
    if (answered.kind === 'refused') this.refused.add(sent.id)
    if (answered.kind === 'done') this.told(sent, owner)
  }

  private sent(kind: Call['kind'], owner: number): Sent | undefined {
    this.calls += 1
    const id = this.calls
    const now = this.now + (this.skews[owner] ?? 0)
    const held = this.fences[owner] ?? { epoch: 0, owner: '' }
    // An acquiring worker was told of a grant: the last grant or, late, the grant before.
    const fence = kind === 'acquire' ? { ...held, epoch: this.granted - (id % 2) } : held
    const step = this.stepOf(kind, fence, now, id)
    return step && { id, kind, fence, now, step }
  }

  private stepOf(kind: Call['kind'], fence: Fence, now: number, id: number): LeaseStep | undefined {
    const result = `${fence.owner}@${fence.epoch}`
    switch (kind) {
      case 'acquire':
        return acquire(fence, now + LEASE_MS)
      case 'renew':
        return renew(fence, now + LEASE_MS)
      case 'complete':
        return complete(fence, { ...outcome, result }, this.item.token)
      case 'release':
        return release(fence, this.item.token, now)
      case 'takeBack':
        return takeBack(this.seen, { now, writer: `nonce-${id}`, recheckAt: now })
      case 'takeBackLost':
        // Lambda is wrong: the worker called dead works on.
        return takeBack(this.seen, {
          now,
          writer: `nonce-${id}`,
          recheckAt: now,
          lost: { epoch: this.seen.epoch, cause: this.seen.owner ?? '' },
        })
    }
  }

  private answerTo(sent: Sent, fate: Call['fate']): Answered {
    if (fate === 'late') {
      this.underWay.push(sent)
      return sent.step.answerOf(this.item)
    }
    const done = this.arrive(sent)
    if (fate === 'answered' && done) return { kind: 'done' }
    if (fate === 'twice') this.arrive(sent)
    return sent.step.answerOf(this.item)
  }

  /** The table carries a step out; every change of the item must have been allowed. */
  private arrive(sent: Sent): boolean {
    const before = this.item
    const next = write(before, sent.step)
    if (!next) return false
    const { kind, fence, now, id } = sent
    if (kind === 'takeBack') expect(before.until).toBeLessThan(now)
    else if (kind === 'takeBackLost') expect(['granted', 'leased']).toContain(before.state)
    else if (kind === 'acquire') expect(before).toMatchObject({ state: 'granted', epoch: fence.epoch })
    else expect(before, 'I8').toMatchObject({ state: 'leased', epoch: fence.epoch, owner: fence.owner })
    expect(next.epoch).toBeGreaterThanOrEqual(before.epoch)
    expect(this.refused.has(id), 'a refusal is final').toBe(false)
    if (next.state === 'completed') {
      expect(this.adopted, 'one completion').toBeUndefined()
      this.adopted = { epoch: next.epoch, result: next.result }
    }
    this.effects.add(id)
    this.item = next
    return true
  }

  /**
   * Every `done` told to an owner is true: the lease is held, the result stands, no other take-back of the same lease.
   */
  private told({ id, kind, fence, step }: Sent, owner: number): void {
    if (kind === 'acquire') {
      expect(this.item).toMatchObject({ state: 'leased', ...fence })
      this.fences[owner] = fence
    }
    if (kind === 'complete') expect(this.adopted).toEqual({ epoch: fence.epoch, result: step.set.result })
    if (kind !== 'takeBack' && kind !== 'takeBackLost') return
    expect(this.effects.has(id)).toBe(true)
    const epoch = step.set.epoch ?? 0
    expect(this.takers.get(epoch) ?? id, 'one taker an epoch').toBe(id)
    this.takers.set(epoch, id)
  }

  /** Every step under way arrives in the end. */
  settle(): void {
    while (this.underWay.length > 0) this.play({ kind: 'arrive' })
    for (const id of this.refused) expect(this.effects.has(id), 'what was refused has no effect').toBe(false)
    if (!this.adopted) return
    expect(this.item).toMatchObject({ state: 'completed', ...this.adopted })
  }
}

describe('three owners, clocks five minutes apart, answers lost, calls late and twice', () => {
  const skews = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -150_000, max: 150_000 })))

  it('I2, I8: one completion at most, by the holder of the epoch; no stale write has an effect; every answer is true', () => {
    let completions = 0
    fc.assert(
      fc.property(skews, fc.array(move, { minLength: 20, maxLength: 80 }), (clocks, moves) => {
        const model = new Model(clocks)
        for (const each of moves) model.play(each)
        model.settle()
        if (model.adopted) completions += 1
      }),
      { numRuns: 400 },
    )
    expect(completions).toBeGreaterThan(20)
  })
})
