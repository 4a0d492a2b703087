import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { finishIfShown } from '../../../shared/coordinator/finish.ts'
import { takeBudget } from '../../../shared/ledger/budget.ts'
import { leaseMessage, readMessages, rememberPending, settleMessage } from '../../../shared/ledger/message.ts'
import {
  leaseResources,
  raiseResources,
  readResources,
  recordResources,
  resourceIn,
} from '../../../shared/ledger/resource.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { countRound, readThread, writeClaim, writeConclusion } from '../../../shared/ledger/thread.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { claim } from '../../../shared/runs/thread.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { repository, requestOf } from '../samples.ts'
import { admitted, heldParts, stored, toldParts, worked } from './fleet-of-tests.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

/** Items written since the last count, with the items and condition checks of transactions counted singly. */
function written(): string[] {
  const writes = world.wire.passed.flatMap(({ operation, body }) => {
    if (operation !== 'TransactWriteItems') return /^(Put|Update|Delete)Item$/.test(operation) ? [nameOf(body)] : []
    const members = body.TransactItems as Record<string, Record<string, unknown>>[]
    return members.flatMap((member) => Object.values(member).map(nameOf))
  })
  world.wire.passed.length = 0
  return writes
}

function nameOf(write: Record<string, unknown>): string {
  const key = (write.Key ?? write.Item) as { pk: { S: string }; sk: { S: string } }
  return key.pk.S.startsWith('QUEUE#') ? 'TICKET' : (key.sk.S.split('#')[0] ?? '')
}

/** The budget of writes for a review, without lease renewals and index writes. */
const WRITES_PER_REVIEW_MAX = 8
/** For a waiting review with simultaneous releases: writes refused by other hand-overs and repeated are included. */
const WRITES_WAITING_MAX = 12
/** The budget is 25: the spare write is for a refusal, when more is desired while a resource is shown. */
const WRITES_PER_RUN = 24

describe('writes to the ledger', () => {
  it(`a review costs at most ${WRITES_PER_REVIEW_MAX} writes: 6 with a free slot`, async () => {
    await worked(world, await admitted(world, 0))
    expect(written()).toEqual(['REVIEW', 'FLEET', 'REVIEW', 'REVIEW', 'REVIEW', 'FLEET'])
  })

  it(`a review costs at most ${WRITES_PER_REVIEW_MAX} writes: also after a wait`, async () => {
    const reviews = 11
    await world.limit({ configured: 1 })
    for (let part = 0; part < reviews; part += 1) await admitted(world, part)
    for (let held = await heldParts(world); held.length > 0; held = await heldParts(world)) {
      await worked(world, await stored(world, held[0] ?? 0))
    }
    const writes = written().length - 1 // the limit, set by the test
    expect(writes / reviews).toBeLessThanOrEqual(WRITES_PER_REVIEW_MAX)
  })

  it(`a review costs at most ${WRITES_PER_REVIEW_MAX} writes, with refused writes: 15 side by side`, async () => {
    expect(await costSideBySide(15)).toBeLessThanOrEqual(WRITES_PER_REVIEW_MAX)
  })

  it(`a review costs at most ${WRITES_WAITING_MAX} writes, with refused writes: 30 side by side on 15 slots`, async () => {
    expect(await costSideBySide(30)).toBeLessThanOrEqual(WRITES_WAITING_MAX)
  })

  it(`a run costs ${WRITES_PER_RUN} writes besides its reviews, from its webhook to its end`, async () => {
    await accepted()
    await planned()
    await shown(['check_run', 'label'])
    await concluded()
    await said()
    await shown(['check_run', 'label', 'summary'])
    await takeBudget(world.ledger, repository.installationId, world.now)
    expect(await finishIfShown(world.coordinator, request.runId)).toBe(true)
    expect(written()).toHaveLength(WRITES_PER_RUN)
  })
})

/** Writes per review, with `count` reviews admitted at once, and each worked on as soon as its grant is told. */
async function costSideBySide(reviews: number): Promise<number> {
  const parts = Array.from({ length: reviews }, (_, part) => part)
  await world.limit({ configured: 15 })
  written()
  const begun = new Set<number>()
  const workOnTold = async (): Promise<void> => {
    const told = toldParts(world).filter((part) => !begun.has(part))
    for (const part of told) begun.add(part)
    await Promise.all(
      told.map(async (part) => {
        await worked(world, await stored(world, part))
        await workOnTold()
      }),
    )
  }
  await Promise.all(parts.map((part) => admitted(world, part).then(workOnTold)))
  await workOnTold()
  expect(begun.size).toBe(reviews)
  expect(await heldParts(world)).toEqual([])
  return written().length / reviews
}

const request = requestOf({ opensSeries: true })
const pullRequest = { repositoryId: repository.id, number: request.number }
const resourceOf = (kind: string) => ({ kind, key: kind === 'check_run' ? request.head : 'main' })

async function found<T>(reading: Promise<T | undefined>): Promise<T> {
  const value = await reading
  if (value === undefined) throw new Error('Expected it to be stored, found none')
  return value
}

const run = (): Promise<Run> => found(readRun(world.ledger, request.runId))

/** The webhook's part. */
async function accepted(): Promise<void> {
  const signal = AbortSignal.timeout(8_000)
  await acceptRun(world.ledger, request, { deliveryId: 'd1', writer: 'w', now: world.now, signal })
}

/** Plan's part: claim, plan, check run in progress and label. */
async function planned(): Promise<void> {
  const { ledger, now } = world
  const decision = claim(undefined, await run(), now)
  if (decision.kind !== 'claim') throw new Error('Expected the run to claim')
  const { thread: next, entry } = decision
  await writeClaim(ledger, { thread: undefined, next, entry, run: await run(), ends: undefined, now })
  await updateRun(ledger, await run(), { plan: 'p', planKey: 'k' }, { now })
  const wanted = ['check_run', 'label'].map((kind) => ({ ...resourceOf(kind), document: 'd' }))
  await raiseResources(ledger, { ...pullRequest, runId: request.runId, wanted, now })
}

/** Conclude's part, with a review to be said. */
async function concluded(): Promise<void> {
  const { ledger, now } = world
  const moved = await writeConclusion(ledger, {
    thread: await found(readThread(ledger, repository.id, request.number)),
    run: await run(),
    verdict: 'pass',
    conclusion: 'c',
    planKey: 'k',
    whole: true,
    round: 1,
    token: 't',
    message: { key: 'review', document: 'd', round: 1, before: undefined },
    resources: ['check_run', 'label', 'summary'].map((kind) => ({ ...resourceOf(kind), document: 'e' })),
    now,
  })
  expect(moved).toBe('done')
}

/** Post's part: the review is made, remembered, submitted and said. */
async function said(): Promise<void> {
  const { ledger, now } = world
  const [message] = await readMessages(ledger, { ...pullRequest, runId: request.runId })
  if (!message) throw new Error('Expected a message')
  await leaseMessage(ledger, message, 'post', now)
  await takeBudget(ledger, repository.installationId, now, 2)
  await rememberPending(ledger, message, 'post', 1)
  await countRound(ledger, pullRequest, message)
  await settleMessage(ledger, message, 'post', { state: 'said', githubId: 1 })
}

/** Post's part: resources are shown. */
async function shown(kinds: readonly string[]): Promise<void> {
  const resources = await found(readResources(world.ledger, pullRequest))
  await leaseResources(world.ledger, resources, 'post', world.now)
  const outcomes = kinds.map((kind) => {
    const { generation } = resourceIn(resources, resourceOf(kind)) ?? { generation: 0 }
    return { ...resourceOf(kind), kept: 'shown', generation, recheckAt: undefined } as const
  })
  expect(await recordResources(world.ledger, resources, 'post', { outcomes, now: world.now })).toBe('recorded')
}
