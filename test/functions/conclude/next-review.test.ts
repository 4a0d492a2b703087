/** The review that a run owes, over the real ledger, by the states of earlier reviews. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  announcedFingerprints,
  nextReview,
  supplementAttempt,
  unannouncedReview,
  unusedRound,
} from '../../../functions/conclude/next-review.ts'
import { WITHDRAWAL_DECIDED_MS } from '../../../shared/base/limits.ts'
import { type Message, withdrawMessage } from '../../../shared/ledger/message.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Announcements } from '../../../shared/verdict/announced-findings.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import type { Plan } from '../../../shared/verdict/plan.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { runOf } from '../../shared/samples.ts'
import { CHANGES_REQUESTED, finding } from './conclusions.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
beforeEach(async () => {
  for (const { pk, sk } of await world.items()) await world.remove({ pk: String(pk), sk: String(sk) })
})
afterAll(() => world.close())

const run = runOf({ attempt: 3 })
const planKey = 'k'
const PLANNED_AT = 1_000
const plan = (changes: Partial<Plan> = {}) =>
  ({ kind: 'full', planKey, plannedAt: PLANNED_AT, announcements: { before: [] }, ...changes }) as Plan
const conclusion: Conclusion = {
  ...CHANGES_REQUESTED,
  findings: [finding({ fingerprint: 'new' })],
  announcedBefore: [],
  dispositions: [],
}
const nothingNew = { ...conclusion, announcedBefore: ['new'] }

/** Announcements of the last verdict in a message with this key. */
const announcements = (key: string, runId = run.runId): Announcements => ({
  before: ['a'],
  message: { runId, planKey, key, fingerprints: ['b'] },
})

async function message(key: string, state: Message['state'], runId = run.runId, round = 0): Promise<Message> {
  const { id } = run.repository
  const stored = { repositoryId: id, number: run.number, runId, planKey, key, state, attempt: 1, round, leaseUntil: 0 }
  const item = { ...keyOf.message(id, run.number, runId, planKey, key), ...stored }
  await world.put(item)
  return item as unknown as Message
}

describe('announced findings', () => {
  const announced = (now = PLANNED_AT, earlier = announcements('review', 'earlier')) =>
    announcedFingerprints(world.ledger, run, plan({ announcements: earlier }), now)

  it.each([
    ['said', ['a', 'b']],
    ['withdrawn', ['a']],
    ['failed', ['a']],
  ] as const)('IL2: after an earlier review was %s the announced fingerprints are %j', async (state, expected) => {
    await message('review', state, 'earlier')
    expect(await announced()).toEqual(expected)
  })

  it('findings without a message were not announced', async () => {
    expect(await announced()).toEqual(['a'])
    expect(await announced(PLANNED_AT, { before: ['a'] })).toEqual(['a'])
  })

  it('IL2: Conclude waits for a review that is being withdrawn, for a bounded time', async () => {
    const owed = await message('review', 'owed', 'earlier')
    await expect(announced()).rejects.toMatchObject({ code: 'claim_contended' })
    await withdrawMessage(world.ledger, owed, world.now)
    const last = PLANNED_AT + WITHDRAWAL_DECIDED_MS - 1
    await expect(announced(last)).rejects.toMatchObject({ code: 'claim_contended' })
    expect(await announced(last + 1)).toEqual(['a'])
  })
})

describe('the review that a conclusion owes', () => {
  const owed = (changes: Partial<Plan> = {}, toAnnounce = conclusion) =>
    nextReview(world.ledger, run, plan(changes), toAnnounce)

  it('a run owes the first review of its plan key, also without new findings', async () => {
    expect(await owed()).toEqual({ key: 'review', before: undefined })
    expect(await owed({}, nothingNew)).toEqual({ key: 'review', before: undefined })
  })

  it('a run of analyzers owes no review', async () => {
    expect(await owed({ kind: 'analyzers' })).toBeUndefined()
  })

  it.each(['withdrawn', 'failed'] as const)('a first review that was %s is owed again under its key', async (state) => {
    await message('review', state)
    expect(await owed()).toEqual({ key: 'review', before: state })
  })

  it('Conclude waits while the first review is being withdrawn', async () => {
    await message('review', 'withdrawing')
    await expect(owed()).rejects.toMatchObject({ code: 'claim_contended' })
  })

  it('a retry owes a further review if the first review lacks findings', async () => {
    await message('review', 'said')
    const further = await owed({ announcements: announcements('review') })
    expect(further).toEqual({ key: 'review-a3', before: undefined })
    expect(further && supplementAttempt(further)).toBe(3)
    expect(await owed({ announcements: announcements('review') }, nothingNew)).toBeUndefined()
  })

  it('a failed further review is owed again under its own key', async () => {
    await message('review', 'said')
    await message('review-a2', 'failed')
    const again = await owed({ announcements: announcements('review-a2') })
    expect(again).toEqual({ key: 'review-a2', before: 'failed' })
    expect(again && supplementAttempt(again)).toBe(2)
  })

  it('after a further review on GitHub, a retry owes another further review', async () => {
    await message('review', 'said')
    await message('review-a2', 'said')
    expect(await owed({ announcements: announcements('review-a2') })).toEqual({ key: 'review-a3', before: undefined })
  })
})

describe('RO2: the round of a retry without new findings', () => {
  const owed = (changes: Partial<Plan> = {}) => unusedRound(world.ledger, run, plan({ round: 2, ...changes }))

  it('RO2: a retry without new findings gives its round once to the review that lacked a lens', async () => {
    await message('review', 'said')
    expect(await owed()).toEqual({ key: 'review', round: 2 })
    await message('review', 'said', run.runId, 1)
    expect(await owed()).toBeUndefined()
  })

  it('RO2: no round is given without an earlier review, or in a run of analyzers', async () => {
    expect(await owed()).toBeUndefined()
    await message('review', 'said')
    expect(await owed({ kind: 'analyzers' })).toBeUndefined()
  })
})

describe('a restated conclusion', () => {
  const still = (announcedIn?: string) =>
    unannouncedReview(
      world.ledger,
      run,
      plan(),
      announcedIn === undefined ? conclusion : { ...conclusion, announcedIn },
    )

  it('LE9: a restated conclusion owes its review again after a failure', async () => {
    await message('review', 'failed')
    expect(await still('review')).toEqual({ key: 'review', before: 'failed' })
  })

  it('LE9: a restated conclusion owes its further review again after a failure', async () => {
    await message('review', 'said')
    await message('review-a2', 'failed')
    expect(await still('review-a2')).toEqual({ key: 'review-a2', before: 'failed' })
  })

  it('PR4: a restated conclusion with all reviews on GitHub owes nothing', async () => {
    await message('review', 'said')
    expect(await still('review')).toBeUndefined()
    await message('review-a2', 'said')
    expect(await still('review-a2')).toBeUndefined()
    expect(await still()).toBeUndefined()
  })
})
