/** Which review is owed, over the real ledger, by what became of the reviews before. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  announcedFingerprints,
  owedReview,
  supplementAttempt,
  unannouncedReview,
  unusedRound,
} from '../../../functions/conclude/owed-review.ts'
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

/** What the verdict before had to say, in a message of this key. */
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

describe('what was said before', () => {
  const known = (now = PLANNED_AT, said = announcements('review', 'earlier')) =>
    announcedFingerprints(world.ledger, run, plan({ announcements: said }), now)

  it.each([
    ['said', ['a', 'b']],
    ['withdrawn', ['a']],
    ['failed', ['a']],
  ] as const)('IL2: an earlier review is %s: %j', async (state, expected) => {
    await message('review', state, 'earlier')
    expect(await known()).toEqual(expected)
  })

  it('what was never owed was not said', async () => {
    expect(await known()).toEqual(['a'])
    expect(await known(PLANNED_AT, { before: ['a'] })).toEqual(['a'])
  })

  it('IL2: one that is being withdrawn may stand on GitHub: it is waited for, and not for ever', async () => {
    const owed = await message('review', 'owed', 'earlier')
    await expect(known()).rejects.toMatchObject({ code: 'claim_contended' })
    await withdrawMessage(world.ledger, owed, world.now)
    const last = PLANNED_AT + WITHDRAWAL_DECIDED_MS - 1
    await expect(known(last)).rejects.toMatchObject({ code: 'claim_contended' })
    expect(await known(last + 1)).toEqual(['a'])
  })
})

describe('the review that a conclusion owes', () => {
  const owed = (changes: Partial<Plan> = {}, made = conclusion) => owedReview(world.ledger, run, plan(changes), made)

  it('is the first of its plan key, also if it has nothing to say', async () => {
    expect(await owed()).toEqual({ key: 'review', before: undefined })
    expect(await owed({}, nothingNew)).toEqual({ key: 'review', before: undefined })
  })

  it('is none for a run of analyzers', async () => {
    expect(await owed({ kind: 'analyzers' })).toBeUndefined()
  })

  it.each(['withdrawn', 'failed'] as const)('is the first again where it was %s', async (state) => {
    await message('review', state)
    expect(await owed()).toEqual({ key: 'review', before: state })
  })

  it('waits while the first is being withdrawn', async () => {
    await message('review', 'withdrawing')
    await expect(owed()).rejects.toMatchObject({ code: 'claim_contended' })
  })

  it('is a further one where the first was said and didn’t say all', async () => {
    await message('review', 'said')
    const further = await owed({ announcements: announcements('review') })
    expect(further).toEqual({ key: 'review-a3', before: undefined })
    expect(further && supplementAttempt(further)).toBe(3)
    expect(await owed({ announcements: announcements('review') }, nothingNew)).toBeUndefined()
  })

  it('is the last further one again where that failed, under its own key', async () => {
    await message('review', 'said')
    await message('review-a2', 'failed')
    const again = await owed({ announcements: announcements('review-a2') })
    expect(again).toEqual({ key: 'review-a2', before: 'failed' })
    expect(again && supplementAttempt(again)).toBe(2)
  })

  it('is another one where the last further one was said', async () => {
    await message('review', 'said')
    await message('review-a2', 'said')
    expect(await owed({ announcements: announcements('review-a2') })).toEqual({ key: 'review-a3', before: undefined })
  })
})

describe('RO2: the round of a retry that has nothing to add', () => {
  const owed = (changes: Partial<Plan> = {}) => unusedRound(world.ledger, run, plan({ round: 2, ...changes }))

  it('is used by the review that was said while a lens was missing, once', async () => {
    await message('review', 'said')
    expect(await owed()).toEqual({ key: 'review', round: 2 })
    await message('review', 'said', run.runId, 1)
    expect(await owed()).toBeUndefined()
  })

  it('is none without such a review, or for a run of analyzers', async () => {
    expect(await owed()).toBeUndefined()
    await message('review', 'said')
    expect(await owed({ kind: 'analyzers' })).toBeUndefined()
  })
})

describe('a verdict that is shown again', () => {
  const still = (announcedIn?: string) =>
    unannouncedReview(
      world.ledger,
      run,
      plan(),
      announcedIn === undefined ? conclusion : { ...conclusion, announcedIn },
    )

  it('LE9: owes its review still if that failed', async () => {
    await message('review', 'failed')
    expect(await still('review')).toEqual({ key: 'review', before: 'failed' })
  })

  it('LE9: owes its further review still if that failed', async () => {
    await message('review', 'said')
    await message('review-a2', 'failed')
    expect(await still('review-a2')).toEqual({ key: 'review-a2', before: 'failed' })
  })

  it('PR4: owes nothing if all was said', async () => {
    await message('review', 'said')
    expect(await still('review')).toBeUndefined()
    await message('review-a2', 'said')
    expect(await still('review-a2')).toBeUndefined()
    expect(await still()).toBeUndefined()
  })
})
