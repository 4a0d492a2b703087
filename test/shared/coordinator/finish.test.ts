import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { finishIfShown } from '../../../shared/coordinator/finish.ts'
import { leaseMessage, readMessages, settleMessage } from '../../../shared/ledger/message.ts'
import { leaseResources, raiseResources, readResources, recordResources } from '../../../shared/ledger/resource.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { readThread, writeClaim, writeConclusion } from '../../../shared/ledger/thread.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { withToken } from '../../../shared/runs/task-tokens.ts'
import { claim } from '../../../shared/runs/thread.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { repository, requestOf } from '../samples.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const request = requestOf({ opensSeries: true })
const pullRequest = { repositoryId: repository.id, number: request.number }
const resources = [
  { kind: 'check_run', key: request.head, document: 'd1' },
  { kind: 'summary', key: 'main', document: 'd2' },
  { kind: 'label', key: 'main', document: 'd3' },
]

async function run(): Promise<Run> {
  const found = await readRun(world.ledger, request.runId)
  if (!found) throw new Error('Expected the run to be stored, found none')
  return found
}

/** A concluded run with `token-1`, which owes GitHub one review and three resources. */
async function concluded(): Promise<void> {
  const { ledger, now } = world
  await acceptRun(ledger, request, { deliveryId: 'd1', writer: 'w', now, signal: AbortSignal.timeout(8_000) })
  const decision = claim(undefined, await run(), now)
  if (decision.kind !== 'claim') throw new Error('Expected the run to claim')
  const { thread: next, entry } = decision
  await writeClaim(ledger, { thread: undefined, next, entry, run: await run(), ends: undefined, now })
  const thread = await readThread(ledger, repository.id, request.number)
  if (!thread) throw new Error('Expected a thread')
  const moved = await writeConclusion(ledger, {
    thread,
    run: await run(),
    verdict: 'concerns',
    conclusion: 'c',
    planKey: 'plan-key',
    whole: true,
    round: 1,
    token: 'token-1',
    message: { key: 'review', document: 'm', round: 1, before: undefined },
    resources,
    now,
  })
  expect(moved).toBe('done')
}

/** A poster ends the message as `state`. */
async function settled(state: 'said' | 'failed'): Promise<void> {
  const [message] = await readMessages(world.ledger, { ...pullRequest, runId: request.runId })
  if (!message) throw new Error('Expected a message')
  await leaseMessage(world.ledger, message, 'post', world.now)
  const end = state === 'said' ? { state, githubId: 1 } : { state, reason: 'post_failed: …' }
  expect(await settleMessage(world.ledger, message, 'post', end)).toBe(true)
}

async function shown(kinds = resources): Promise<void> {
  const all = await readResources(world.ledger, pullRequest)
  if (!all) throw new Error('Expected resources')
  await leaseResources(world.ledger, all, 'post', world.now)
  const outcomes = kinds.map(
    ({ kind, key }) => ({ kind, key, kept: 'shown', generation: 1, recheckAt: undefined }) as const,
  )
  await recordResources(world.ledger, all, 'post', { outcomes, now: world.now })
}

const finish = () => finishIfShown(world.coordinator, request.runId)
const round = async () => (await readThread(world.ledger, repository.id, request.number))?.round

describe('finishIfShown', () => {
  it('LE14, I3: no token is answered while a message or a resource is owed', async () => {
    await concluded()
    expect(await finish()).toBe(false)
    await settled('said')
    expect(await finish()).toBe(false)
    await shown(resources.slice(0, 2))
    expect(await finish()).toBe(false)
    expect(world.answers).toEqual([])
    expect(await run()).toMatchObject({ state: 'concluded' })
  })

  it('LE14: no token is answered while only a message is owed', async () => {
    await concluded()
    await shown()
    expect(await finish()).toBe(false)
    expect(world.answers).toEqual([])
  })

  it('I3: no token is answered while a resource shows an older generation', async () => {
    await concluded()
    await settled('said')
    await shown()
    const wanted = [{ kind: 'summary', key: 'main', document: 'newer' }]
    await raiseResources(world.ledger, { ...pullRequest, runId: request.runId, wanted, now: world.now })
    expect(await finish()).toBe(false)
    expect(world.answers).toEqual([])
  })

  it('with everything shown the run ends, its round counts and its task is told; a repetition changes nothing', async () => {
    await concluded()
    await settled('said')
    await shown()
    expect(await finish()).toBe(true)
    expect(await run()).toMatchObject({ state: 'ended', outcome: 'reviewed' })
    expect(await round()).toBe(1)
    const before = await world.items()
    expect(await finish()).toBe(true)
    expect(await world.items()).toEqual(before)
    expect(world.answers).toEqual([{ token: 'token-1', output: { outcome: 'shown' } }])
    expect(await world.item(keyOf.run(request.runId))).not.toHaveProperty('dueAt')
  })

  it('IL10: a second token of conclude is answered, even if post showed everything before the token was written', async () => {
    await concluded()
    world.deadTokens.add('token-1')
    await settled('said')
    await shown()
    await updateRun(world.ledger, await run(), { token: 'token-2' }, { now: world.now })
    expect(await finish()).toBe(true)
    expect(world.answers).toEqual([{ token: 'token-2', output: { outcome: 'shown' } }])
  })

  it('IL10: a second token of conclude, written while post finishes by the first, finds the run ended, or ends the run', async () => {
    await concluded()
    world.deadTokens.add('token-1')
    await settled('said')
    await shown()
    world.wire.beforeAnswer(
      ({ operation, body }) => operation === 'GetItem' && JSON.stringify(body).includes(request.runId),
      async () => {
        await updateRun(world.ledger, await run(), { token: 'token-2' }, { now: world.now })
      },
    )
    expect(await finish()).toBe(false)
    expect(await run()).toMatchObject({ state: 'concluded', token: 'token-2' })
    expect(await finish()).toBe(true)
    expect(world.answers).toEqual([{ token: 'token-2', output: { outcome: 'shown' } }])
  })

  it('IL10: the first call of conclude, taken for failed, writes its token last: the second token is answered too', async () => {
    await concluded()
    for (const token of ['token-2', 'token-1']) {
      const before = await run()
      await updateRun(world.ledger, before, { token: withToken(before.token, token) }, { now: world.now })
    }
    world.deadTokens.add('token-1')
    await settled('said')
    await shown()
    expect(await finish()).toBe(true)
    expect(world.answers).toEqual([{ token: 'token-2', output: { outcome: 'shown' } }])
    expect(await run()).not.toHaveProperty('token')
  })

  it('I5: after a death between answer and end the run is due, and the next call finishes it', async () => {
    await concluded()
    await settled('said')
    await shown()
    const stop = world.wire.refuse(
      ({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('"S":"ended"'),
      'ValidationException',
    )
    await expect(finish()).rejects.toThrow()
    stop()
    expect(world.answers).toHaveLength(1)
    expect(await world.item(keyOf.run(request.runId))).toHaveProperty('dueAt')
    expect(await finish()).toBe(true)
    expect(world.answers).toHaveLength(1)
  })

  it('LE9: a failed message makes the run failed, with a reason and no round, and its task is told', async () => {
    await concluded()
    await settled('failed')
    expect(await finish()).toBe(false) // check run and label are still owed, and would stay half shown
    await shown()
    expect(await finish()).toBe(true)
    expect(await run()).toMatchObject({ state: 'ended', outcome: 'failed', reason: { code: 'post_failed' } })
    expect(await round()).toBe(0)
    expect(world.answers).toEqual([{ token: 'token-1', output: { outcome: 'failed' } }])
  })

  it('LE9: a failed message of an earlier attempt fails no later attempt', async () => {
    await concluded()
    const message = (await world.items()).find(({ sk }) => String(sk).startsWith('MESSAGE#'))
    await world.ledger.client.send(
      new PutCommand({
        TableName: world.ledger.table,
        Item: { ...message, sk: `${message?.sk}-earlier`, attempt: 0, state: 'failed', round: 0 },
      }),
    )
    await shown()
    expect(await finish()).toBe(false) // the attempt's own message is still owed
    await settled('said')
    expect(await finish()).toBe(true)
    expect(await run()).toMatchObject({ state: 'ended', outcome: 'reviewed' })
  })

  it('a run not concluded, or unknown, is left alone', async () => {
    expect(await finish()).toBe(false)
    await acceptRun(world.ledger, request, {
      deliveryId: 'd1',
      writer: 'w',
      now: world.now,
      signal: AbortSignal.timeout(8_000),
    })
    expect(await finish()).toBe(false)
    expect(await run()).toMatchObject({ state: 'accepted' })
  })
})
