import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { finishEnding } from '../../../shared/coordinator/ending.ts'
import { getDocument } from '../../../shared/documents/documents.ts'
import { readResources, resourceIn } from '../../../shared/ledger/resource.ts'
import { completeReview, leaseReview } from '../../../shared/ledger/review.ts'
import { acceptRun, beginEnding, readRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { readThread, writeClaim } from '../../../shared/ledger/thread.ts'
import type { CheckRunResource, LabelResource, Resource } from '../../../shared/publishing/github-payloads.ts'
import type { Reason, Run, RunOutcome } from '../../../shared/runs/run.ts'
import { claim } from '../../../shared/runs/thread.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { repository, requestOf, sha } from '../samples.ts'
import { admitted, heldParts, stored, waitingItems } from './fleet-of-tests.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const request = requestOf()
const pullRequest = { repositoryId: repository.id, number: 42 }
const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }

async function run(runId = request.runId): Promise<Run> {
  const found = await readRun(world.ledger, runId)
  if (!found) throw new Error('Expected the run to be stored, found none')
  return found
}

async function claimed(asked = request, deliveryId = 'd1'): Promise<void> {
  const { ledger, now } = world
  await acceptRun(ledger, asked, { deliveryId, writer: deliveryId, now, signal: AbortSignal.timeout(8_000) })
  const thread = await readThread(ledger, repository.id, asked.number)
  const decision = claim(thread, await run(asked.runId), now)
  if (decision.kind !== 'claim') throw new Error('Expected the run to claim')
  const before = decision.ends === undefined ? undefined : await run(decision.ends)
  const ends = before?.state === 'ended' ? undefined : before
  const { thread: next, entry } = decision
  expect(await writeClaim(ledger, { thread, next, entry, run: await run(asked.runId), ends, now })).toBe('done')
}

const begin = async (outcome: RunOutcome = 'closed') =>
  beginEnding(world.ledger, await run(), { outcome, reason, now: world.now })
const finish = (changes: Partial<World['ending']> = {}) => finishEnding({ ...world.ending, ...changes }, request.runId)
const operations = () => world.asked.map(({ operation }) => operation)

async function wanted<Desired extends Resource>(kind: Desired['kind'], key: string): Promise<Desired | undefined> {
  const resource = resourceIn(await readResources(world.ledger, pullRequest), { kind, key })
  return resource && getDocument<Desired>(world.ending.documents, resource.document)
}
const checkRun = (head = request.head) => wanted<CheckRunResource>('check_run', head)
const label = () => wanted<LabelResource>('label', 'main')

/** Stops everything at the first write of the operation after `steps` writes, as if the process died. */
function dieAfter(steps: number): () => void {
  let writes = 0
  return world.wire.refuse(({ operation }) => {
    if (operation === 'GetItem' || operation === 'Query') return false
    writes += 1
    return writes > steps
  }, 'ValidationException')
}

describe('finishEnding', () => {
  it('LE6: a waiting review never starts: its ticket goes, its task is told, its run ends', async () => {
    await world.limit({ configured: 1 })
    await claimed()
    await admitted(world, 9, { runId: 'e'.repeat(64) })
    const review = await admitted(world, 0)
    await begin()
    expect(await finish()).toBe(true)
    expect((await waitingItems(world)).tickets).toEqual([])
    expect(await leaseReview(world.ledger, review, { epoch: 1, owner: 'a', now: world.now })).toEqual({ kind: 'stale' })
    expect(world.answers.at(-1)).toEqual({ token: 'token-0', output: { outcome: 'ended', epoch: 1 } })
    expect(await run()).toMatchObject({ state: 'ended', outcome: 'closed', reason })
    expect(await heldParts(world)).toEqual([9])
  })

  it('LE6, AW44: a working review loses its lease and its slot, and a waiting review gets the slot', async () => {
    await world.limit({ configured: 1 })
    await claimed()
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'worker', now: world.now })
    await admitted(world, 9, { runId: 'e'.repeat(64) })
    await begin('cancelled')
    await finish()
    expect(await heldParts(world)).toEqual([9])
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    expect(await completeReview(world.ledger, review, { epoch: 1, owner: 'worker' }, outcome)).toEqual({
      kind: 'stale',
    })
    expect(operations()).toContain('StopExecution')
  })

  it('LE12: a completed review stays, for the next attempt', async () => {
    await claimed()
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'worker', now: world.now })
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    await completeReview(world.ledger, review, { epoch: 1, owner: 'worker' }, outcome)
    await begin()
    await finish()
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 1, result: 'r' })
    expect(await heldParts(world)).toEqual([])
  })

  it('I4: the check run is completed, never green, and post is nudged', async () => {
    await claimed()
    await begin()
    await finish()
    expect(await checkRun()).toMatchObject({ status: 'completed', conclusion: 'cancelled' })
    const { client, url } = world.ending.outbox
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: url }))
    expect(Messages?.map(({ Body }) => JSON.parse(Body ?? ''))).toMatchObject([
      { ...pullRequest, runId: request.runId },
    ])
  })

  it('I5: after a death before any write, the next try ends the run, and nothing of it is left', async () => {
    for (let steps = 0; ; steps += 1) {
      const number = 100 + steps
      const asked = requestOf({ number, head: sha(`head-${steps}`) })
      await claimed(asked)
      const { runId } = asked
      await admitted(world, 0, { runId })
      await leaseReview(world.ledger, await stored(world, 0, { runId }), { epoch: 1, owner: 'w', now: world.now })
      await beginEnding(world.ledger, await run(runId), { outcome: 'failed', reason, now: world.now })
      const revive = dieAfter(steps)
      const died = await finishEnding(world.ending, runId).then(
        () => false,
        () => true,
      )
      revive()
      if (died) expect(await world.item(keyOf.run(runId))).toHaveProperty('dueAt')
      await finishEnding(world.ending, runId)
      expect(await run(runId)).toMatchObject({ state: 'ended', outcome: 'failed' })
      expect(await stored(world, 0, { runId })).toMatchObject({ state: 'ended' })
      expect((await waitingItems(world)).tickets).toEqual([])
      const { slots } = (await world.item(keyOf.fleet())) ?? {}
      expect(Object.keys(slots as object).filter((id) => id.startsWith(runId)).length).toBeLessThanOrEqual(
        died ? 1 : 0, // a slot whose release died is void, and left to the sweeper
      )
      if (!died) break
    }
  })

  it('an execution that ends its own run is not stopped', async () => {
    await claimed()
    await begin()
    await finish({ keepExecution: true })
    expect(operations()).not.toContain('StopExecution')
  })

  it('a run in any other state is left alone', async () => {
    await claimed()
    const before = await world.items()
    expect(await finish()).toBe(false)
    expect(await world.items()).toEqual(before)
    expect(world.asked).toEqual([])
  })

  it('IL11: a late ending of attempt 1 leaves attempt 2 untouched', async () => {
    await claimed()
    await admitted(world, 0)
    await begin('failed')
    let later: unknown[] = []
    // Between the first read of the run and the rest, another process finishes the ending and attempt 2 begins.
    world.wire.beforeAnswer(
      ({ operation, body }) => operation === 'GetItem' && JSON.stringify(body).includes(`RUN#${request.runId}`),
      async () => {
        await finish()
        await claimed(request, 'd2')
        await admitted(world, 0, { attempt: 2, token: 'second-0' })
        later = await world.items()
      },
    )
    await finish()
    expect(await world.items()).toEqual(later)
    expect(await run()).toMatchObject({ attempt: 2, state: 'running' })
    expect(await stored(world, 0)).toMatchObject({ attempt: 2, state: 'granted', epoch: 3 })
    expect(await heldParts(world)).toEqual([0])
  })

  it('PR5: the check run of a head is left alone if another run speaks for the head', async () => {
    await claimed()
    const edited = requestOf({ cause: 'text:1', kind: 'analyzers', eventAt: 9_000 })
    await claimed(edited, 'd2')
    expect(await run()).toMatchObject({ state: 'ending' })
    await finish()
    expect(await checkRun()).toBeUndefined()
    expect(await run(edited.runId)).toMatchObject({ state: 'running' })
  })

  it.each(['closed', 'failed', 'cancelled'] as const)('a run that is %s leaves no label behind', async (outcome) => {
    await claimed()
    await begin(outcome)
    await finish()
    expect(await label()).toEqual({ kind: 'label', label: 'none' })
  })

  it('D3: the label belongs to a newer head’s run, even if the run claims during the ending of the older run', async () => {
    await claimed()
    await begin('cancelled')
    const newer = requestOf({ head: sha('newer'), eventAt: 9_000 })
    world.wire.beforeAnswer(
      ({ operation, body }) => operation === 'GetItem' && JSON.stringify(body).includes('"S":"THREAD"'),
      () => claimed(newer, 'd2'),
    )
    while (!(await finish())) expect(await run()).toMatchObject({ state: 'ending' })
    expect(await run()).toMatchObject({ state: 'ended' })
    expect(await label()).toBeUndefined()
    expect(await checkRun()).toMatchObject({ status: 'completed' })
  })

  it('the check run of an older head is completed, even if a newer head’s run speaks', async () => {
    await claimed()
    await claimed(requestOf({ head: sha('newer'), eventAt: 9_000 }), 'd2')
    await finish()
    expect(await checkRun()).toMatchObject({ status: 'completed', conclusion: 'cancelled', head: request.head })
    expect(await checkRun(sha('newer'))).toBeUndefined()
  })

  it('a delivery received during the ending makes the next attempt, due at once', async () => {
    await claimed()
    await begin('superseded')
    await acceptRun(world.ledger, requestOf({ eventAt: 9_000 }), {
      deliveryId: 'd2',
      writer: 'd2',
      now: world.now,
      signal: AbortSignal.timeout(8_000),
    })
    expect(await finish()).toBe(true)
    expect(await run()).toMatchObject({ state: 'accepted', attempt: 2, eventAt: 9_000 })
    expect(await world.item(keyOf.run(request.runId))).toMatchObject({ dueAt: world.now })
  })
})
