/** Items as they stand in the table: read whole, or refused with a stable code; never half filled. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FLEET_AT_REST } from '../../../shared/fleet/schedule.ts'
import { closedUntil, takeBudget } from '../../../shared/ledger/budget.ts'
import { readDue } from '../../../shared/ledger/due.ts'
import { openEvent } from '../../../shared/ledger/event.ts'
import { readFleet, readQueues, readTickets } from '../../../shared/ledger/fleet.ts'
import { setHalt, standingHalts } from '../../../shared/ledger/halt.ts'
import { readMessage, readMessages } from '../../../shared/ledger/message.ts'
import { raiseResources, readResources } from '../../../shared/ledger/resource.ts'
import { awaitGrant, readReview, readReviews } from '../../../shared/ledger/review.ts'
import { acceptRun, readRun } from '../../../shared/ledger/run.ts'
import { due, type Item, type Key, keyOf, type Ledger } from '../../../shared/ledger/table.ts'
import { readThread } from '../../../shared/ledger/thread.ts'
import { messageOf, repository, requestOf, runOf, threadOf, ticket, wantedReview } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
let ledger: Ledger
beforeAll(async () => {
  world = await startWorld()
  ledger = world.ledger
})
beforeEach(async () => {
  for (const { pk, sk } of await world.items()) await world.remove({ pk: String(pk), sk: String(sk) })
})
afterAll(() => world.close())

const NUMBER = requestOf().number
const run = runOf()
const review = { ...wantedReview(0), state: 'waiting', epoch: 1 }
const message = messageOf()
const waiting = ticket('r')
const queue = { repository: waiting.repository, installation: 70, pool: 'lambda', nonce: 'n' }
const event = {
  kind: 'closed',
  repository,
  number: NUMBER,
  cause: 'closed:1',
  eventAt: 1,
  acceptedAt: 1,
  state: 'open',
}
const name = { repositoryId: repository.id, number: NUMBER }
const wanted = { kind: 'label', key: 'main', runId: run.runId, document: 'd' }
const shown = { ...name, version: 1, leaseUntil: 0, wanted_label_main: wanted, generation_label_main: 1 }

interface Kind {
  readonly key: Key
  readonly item: Item
  /** A member without which the item doesn't fit. */
  readonly member: string
  readonly reads: readonly (() => Promise<unknown>)[]
}

const kinds: Readonly<Record<string, Kind>> = {
  run: { key: keyOf.run(run.runId), item: { ...run }, member: 'deliveries', reads: [() => readRun(ledger, run.runId)] },
  review: {
    key: keyOf.review(wantedReview(0)),
    item: review,
    member: 'epoch',
    reads: [() => readReview(ledger, wantedReview(0)), () => readReviews(ledger, run.runId)],
  },
  thread: {
    key: keyOf.thread(repository.id, NUMBER),
    item: { ...threadOf() },
    member: 'series',
    reads: [() => readThread(ledger, repository.id, NUMBER)],
  },
  event: {
    key: keyOf.event(repository.id, NUMBER, event.cause),
    item: event,
    member: 'repository',
    reads: [() => openEvent(ledger, { ...name, cause: event.cause })],
  },
  message: {
    key: keyOf.message(repository.id, NUMBER, message.runId, message.planKey, message.key),
    item: { ...message },
    member: 'document',
    reads: [() => readMessage(ledger, message), () => readMessages(ledger, message)],
  },
  resources: {
    key: keyOf.resources(repository.id, NUMBER),
    item: shown,
    member: 'generation_label_main',
    reads: [() => readResources(ledger, name)],
  },
  fleet: {
    key: keyOf.fleet(),
    item: { ...FLEET_AT_REST, slots: { r: { epoch: 1, repository: 7, pool: 'lambda', since: 1 } }, version: 1 },
    member: 'slots.r.epoch',
    reads: [() => readFleet(ledger)],
  },
  queue: {
    key: keyOf.queue(queue.repository, queue.pool),
    item: queue,
    member: 'nonce',
    reads: [() => readQueues(ledger)],
  },
  ticket: {
    key: keyOf.ticket(waiting.repository, waiting.pool, waiting.turn, waiting.reviewId, waiting.epoch),
    item: { ...waiting },
    member: 'turn',
    reads: [() => readTickets(ledger, queue, 9)],
  },
  halts: {
    key: keyOf.halts(),
    item: { scopes: { fleet: { by: 'ops', why: 'Friday', since: 1 } }, version: 1 },
    member: 'scopes.fleet.by',
    reads: [() => standingHalts(ledger)],
  },
  budget: {
    key: keyOf.budget(70),
    item: { minute: [], hour: [{ from: 1, count: 2 }], version: 1 },
    member: 'minute',
    reads: [() => takeBudget(ledger, 70, 1), () => closedUntil(ledger, 70, 1)],
  },
}

/** A copy without the member at that path. */
function lacking(item: Item, path: string): Item {
  const [member = '', ...rest] = path.split('.')
  const { [member]: inner, ...others } = item
  return rest.length === 0 ? others : { ...others, [member]: lacking(inner as Item, rest.join('.')) }
}

describe.each(Object.entries(kinds))('the item of a %s', (_kind, { key, item, member, reads }) => {
  it('is read with the members that a later version added to it', async () => {
    await world.put({ ...key, ...item, weather: 'fair' })
    await expect(Promise.all(reads.map((read) => read()))).resolves.toHaveLength(reads.length)
  })

  it(`that has no ${member} is item_invalid, which names its kind`, async () => {
    await world.put({ ...key, ...lacking(item, member) })
    for (const read of reads) {
      await expect(read()).rejects.toMatchObject({ name: 'dead', code: 'item_invalid' })
      await expect(read()).rejects.toThrow(`The item ${key.pk.split('#', 1)[0]}/${key.sk.split('#', 1)[0]} has another`)
    }
  })

  it(`whose ${member} has another form is item_invalid, and its content is not told`, async () => {
    const text = 'hunter2'
    await world.put({ ...key, ...withText(item, member, text) })
    for (const read of reads) {
      await expect(read()).rejects.toMatchObject({ code: 'item_invalid' })
      await expect(read()).rejects.not.toThrow(text)
    }
  })
})

/** A copy in which the member at that path is a map with that text. */
function withText(item: Item, path: string, text: string): Item {
  const [member = '', ...rest] = path.split('.')
  const inner = item[member] as Item
  return { ...item, [member]: rest.length === 0 ? { text } : withText(inner, rest.join('.'), text) }
}

describe('what is written over an item of a later version', () => {
  it('keeps members of its maps that this version does not know', async () => {
    const fleet = { by: 'ops', why: 'Friday', since: 1, ticket: 'OPS-7' }
    await world.put({ ...keyOf.halts(), scopes: { fleet, 'region/eu': fleet }, version: 1 })
    await setHalt(ledger, { scope: 'repository/7', by: 'ops', why: 'Quiet.', since: 2 })
    expect((await world.item(keyOf.halts()))?.scopes).toMatchObject({ fleet, 'region/eu': fleet })
  })

  it('keeps a reason whose code this version does not know', async () => {
    const reason = { code: 'moon_phase', sentence: 'It is new moon.' }
    await world.put({ ...keyOf.run(run.runId), ...run, state: 'held', reason })
    expect(await readRun(ledger, run.runId)).toMatchObject({ reason })
  })
})

describe('a due item that does not fit', () => {
  it('is a value that says why, so that its row can be moved on first', async () => {
    const { key, item, member } = kinds.review as Kind
    await world.put({ ...key, ...lacking(item, member), ...due(key, 1) })
    expect(await readDue(ledger, key, 2)).toMatchObject({ kind: 'unknown', dueAt: 1, why: { code: 'item_invalid' } })
  })
})

describe('what the rooms write', () => {
  it('fits what they read: runs, reviews and resources as they are made', async () => {
    const { now } = world
    const options = { deliveryId: 'd', writer: randomUUID(), now, signal: AbortSignal.timeout(8_000) }
    const accepted = await acceptRun(ledger, requestOf(), options)
    expect(await readRun(ledger, run.runId)).toEqual(accepted.run)
    const granted = await awaitGrant(ledger, wantedReview(0), { writer: randomUUID(), now })
    expect(await readReview(ledger, wantedReview(0))).toEqual(granted)
    await raiseResources(ledger, { ...name, runId: run.runId, wanted: [wanted], now })
    expect((await readResources(ledger, name))?.all).toMatchObject([wanted])
  })
})
