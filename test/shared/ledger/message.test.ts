import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  leaseMessage,
  type Message,
  postponeMessage,
  readMessage,
  readMessages,
  recordRecheck,
  settleMessage,
  stillLeased,
  withdrawMessage,
} from '../../../shared/ledger/message.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const name = { repositoryId: 7, number: 42, runId: 'a'.repeat(64), planKey: 'b'.repeat(64), key: 'review' }
const key = keyOf.message(name.repositoryId, name.number, name.runId, name.planKey, name.key)

/** The message as a conclusion leaves it. */
async function owed(changes: Partial<Message> = {}): Promise<Message> {
  const message: Message = {
    ...name,
    attempt: 1,
    document: 'd',
    state: 'owed',
    series: 1,
    round: 1,
    errors: 0,
    leaseUntil: 0,
    ...changes,
  }
  await world.put({ ...key, ...message, duePk: 'DUE#0', dueAt: world.now })
  return stored()
}

async function stored(): Promise<Message> {
  const message = await readMessage(world.ledger, name)
  if (!message) throw new Error('Expected the message to be stored, found none')
  return message
}

const lease = (message: Message, owner: string) => leaseMessage(world.ledger, message, owner, world.now)

describe('a message', () => {
  it('IL14: exactly one of two posters gets the lease of a message', async () => {
    const message = await owed()
    const both = await Promise.all([lease(message, 'a'), lease(message, 'b')])
    expect(both.toSorted()).toEqual([false, true])
    expect(await lease(await stored(), 'c')).toBe(false)
  })

  it('LE7: a poster whose message was taken over settles, postpones and continues nothing', async () => {
    const message = await owed()
    await lease(message, 'a')
    const asA = await stored()
    world.now = asA.leaseUntil + 1
    expect(await lease(asA, 'b')).toBe(true)
    const before = await stored()
    expect(await stillLeased(world.ledger, asA, 'a')).toBe(false)
    expect(await settleMessage(world.ledger, asA, 'a', { state: 'said', githubId: 1 })).toBe(false)
    await postponeMessage(world.ledger, asA, 'a', { at: 1, error: true })
    expect(await stored()).toEqual(before)
    expect(await stillLeased(world.ledger, before, 'b')).toBe(true)
  })

  it('AW31: a late nudge with an outdated view gets no lease on a said message', async () => {
    const early = await owed()
    await lease(early, 'a')
    await settleMessage(world.ledger, early, 'a', { state: 'said', githubId: 9 })
    world.now += 6 * 60_000
    expect(await lease(early, 'b')).toBe(false)
    expect(await stored()).toMatchObject({ state: 'said', githubId: 9, leaseUntil: 0 })
    expect(await world.item(key)).not.toHaveProperty('dueAt')
  })

  it('IL14: a said message is due for its recheck, and no longer due after a recheck without news', async () => {
    await owed()
    const message = await stored()
    await lease(message, 'a')
    const recheckAt = world.now + 3 * 60_000
    await settleMessage(world.ledger, message, 'a', { state: 'said', githubId: 9 }, recheckAt)
    expect(await world.item(key)).toMatchObject({ state: 'said', recheckAt, dueAt: recheckAt })
    const said = await stored()
    await lease(said, 'b')
    expect(await recordRecheck(world.ledger, said, 'b')).toBe(true)
    expect(await world.item(key)).not.toHaveProperty('dueAt')
  })

  it('LE9: an error is counted and a throttle is not, and either is due again at its time', async () => {
    await owed()
    for (const [error, errors] of [
      [true, 1],
      [false, 1],
      [true, 2],
    ] as const) {
      const message = await stored()
      await lease(message, 'a')
      await postponeMessage(world.ledger, message, 'a', { at: 123, error })
      expect(await world.item(key)).toMatchObject({ errors, dueAt: 123, leaseUntil: 0 })
    }
    expect(await lease(await stored(), 'b')).toBe(true)
  })

  it('IL2: an ending turns an owed message into a recheck, due after the lease; a repetition changes nothing', async () => {
    const message = await owed()
    await lease(message, 'a')
    const held = await stored()
    await withdrawMessage(world.ledger, held, world.now)
    await withdrawMessage(world.ledger, held, world.now)
    expect(await world.item(key)).toMatchObject({ state: 'withdrawing', dueAt: held.leaseUntil, owner: 'a' })
    expect(await stillLeased(world.ledger, held, 'a')).toBe(false)
  })

  it('IL2: a said message is not withdrawn', async () => {
    const message = await owed()
    await lease(message, 'a')
    await settleMessage(world.ledger, message, 'a', { state: 'said', githubId: 9 })
    await withdrawMessage(world.ledger, message, world.now)
    expect((await stored()).state).toBe('said')
  })

  it('IL11: an ending of attempt 1 leaves the message of attempt 2 alone', async () => {
    const seen = await owed()
    await owed({ attempt: 2 })
    await withdrawMessage(world.ledger, seen, world.now)
    expect(await stored()).toMatchObject({ state: 'owed', attempt: 2 })
  })

  it('a message is found with its run, and with no other run', async () => {
    const message = await owed()
    await world.put({ ...keyOf.message(7, 42, `${'a'.repeat(63)}b`, name.planKey, 'review'), state: 'owed' })
    expect(await readMessages(world.ledger, name)).toEqual([message])
  })
})
