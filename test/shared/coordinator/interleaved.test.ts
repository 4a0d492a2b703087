/** Endings, holds, take-backs and completions of one run, mixed in any order: in the end nothing of the run is left. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cancelRun } from '../../../shared/coordinator/cancel.ts'
import { finishEnding } from '../../../shared/coordinator/ending.ts'
import { grantSlots, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import { holdForHalt } from '../../../shared/coordinator/hold.ts'
import { liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { readResources } from '../../../shared/ledger/resource.ts'
import { completeReview, leaseReview, readReviews } from '../../../shared/ledger/review.ts'
import { acceptRun, beginEnding, readRun } from '../../../shared/ledger/run.ts'
import { resumeRun } from '../../../shared/ledger/run-again.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { readThread, writeClaim } from '../../../shared/ledger/thread.ts'
import { isDone } from '../../../shared/runs/review.ts'
import { isLive, type Run } from '../../../shared/runs/run.ts'
import { claim } from '../../../shared/runs/thread.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { repository, requestOf, sha } from '../samples.ts'
import { admitted, stored, waitingItems } from './fleet-of-tests.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** As many orders as `npm test` has time for; every order is different. */
const ORDERS = 20

/** Shuffles by a seed: a failing order can be run again. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed + 1
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

describe('one run, ended in every way at once', () => {
  it.each(Array.from({ length: ORDERS }, (_, seed) => seed))(
    'I5, IL11, order %d: the run ends, and leaves nothing behind',
    async (seed) => {
      const number = 1_000 + seed
      const request = requestOf({ number, head: sha(`h1-${seed}`) })
      const newer = requestOf({ number, head: sha(`h2-${seed}`), eventAt: 5_000 })
      const { runId } = request
      await accepted(request)
      await claimed(request)
      for (const part of [0, 1, 2]) await admitted(world, part, { runId })
      const worker = { epoch: 1, owner: 'worker' }
      await leaseReview(world.ledger, await stored(world, 0, { runId }), { ...worker, now: world.now })
      await accepted(newer)

      const steps: (() => Promise<unknown>)[] = [
        () => cancelRun(world.ending, runId, 'a person'),
        () => claimed(newer),
        async () => {
          const reason = { code: 'pull_request_closed', sentence: 'Closed.' } as const
          await beginEnding(world.ledger, { runId, attempt: 1 }, { outcome: 'closed', reason, now: world.now })
          await finishEnding(world.ending, runId)
        },
        async () => {
          await setHalt(world.ledger, { scope: `repository/${repository.id}`, by: 'ops', why: 'incident', since: 1 })
          await holdForHalt(world.coordinator, await run(runId))
          await liftHalt(world.ledger, `repository/${repository.id}`)
        },
        async () => {
          const held = await run(runId)
          await resumeRun(world.ledger, held, world.now)
        },
        async () => {
          const review = await stored(world, 0, { runId })
          const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
          await completeReview(world.ledger, review, worker, outcome)
          await grantSlots(world.coordinator, [slotOf(review)])
        },
        () => accepted(requestOf({ number, head: request.head, eventAt: 900 }), 'again'),
      ]
      const order = shuffled(steps, seed)
      // Two lanes, for steps to interrupt each other.
      const lanes = [order.filter((_, index) => index % 2 === 0), order.filter((_, index) => index % 2 === 1)]
      await Promise.all(
        lanes.map(async (lane) => {
          for (const step of lane) await step()
        }),
      )
      await swept(runId)

      const ended = await run(runId)
      expect(ended.state).toBe('ended')
      expect((await readReviews(world.ledger, runId)).filter(({ state }) => !isDone(state))).toEqual([])
      const { slots = {} } = (await world.item(keyOf.fleet())) ?? {}
      expect(Object.keys(slots as object).filter((id) => id.startsWith(runId))).toEqual([])
      expect((await waitingItems(world)).tickets.filter((id) => id.startsWith(runId))).toEqual([])
      const shown = await readResources(world.ledger, { repositoryId: repository.id, number })
      expect(shown?.all.map(({ kind, key }) => [kind, key])).toContainEqual(['check_run', request.head])
      expect(await run(newer.runId)).toMatchObject({ state: 'running' })
      expect(await readThread(world.ledger, repository.id, number)).toMatchObject({ liveRun: { runId: newer.runId } })
    },
  )
})

async function run(runId: string): Promise<Run> {
  const found = await readRun(world.ledger, runId)
  if (!found) throw new Error('Expected the run to be stored, found none')
  return found
}

function accepted(request = requestOf(), deliveryId = `d-${request.head}`) {
  const options = { deliveryId, writer: deliveryId, now: world.now, signal: AbortSignal.timeout(8_000) }
  return acceptRun(world.ledger, request, options)
}

/** Claims as plan does, again and again until the claim is allowed, or superseded. */
async function claimed(request: ReturnType<typeof requestOf>): Promise<void> {
  for (;;) {
    const { ledger, now } = world
    const thread = await readThread(ledger, repository.id, request.number)
    const current = await run(request.runId)
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded' || !isLive(current.state)) return
    const before = decision.ends === undefined ? undefined : await run(decision.ends)
    const ends = before && isLive(before.state) ? before : undefined
    const { thread: next, entry } = decision
    const moved = await writeClaim(ledger, { thread, next, entry, run: current, ends, now })
    if (moved === 'done') return
  }
}

/** The sweeper and the run's own next attempts, until the run has ended: no run of a later head is overtaken. */
async function swept(runId: string): Promise<void> {
  for (let tick = 0; tick < 10; tick += 1) {
    const current = await run(runId)
    if (current.state === 'ended') return
    if (current.state === 'ending') await finishEnding(world.ending, runId)
    else if (current.state === 'held') await resumeRun(world.ledger, current, world.now)
    else {
      const reason = { code: 'head_superseded', sentence: 'Overtaken.' } as const
      await beginEnding(world.ledger, current, { outcome: 'superseded', reason, now: world.now })
    }
  }
  throw new Error(`Expected the run to end, found it ${(await run(runId)).state}`)
}
