/** Reviews requested by a person, over the real ledger: their run, and their turn. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TURN_ASKED_MS } from '../../../shared/base/limits.ts'
import { turnOf } from '../../../shared/fleet/schedule.ts'
import { acceptRun, readRun, resumeRun, updateRun, writeHeld } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Run, RunRequest } from '../../../shared/runs/run.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, threadOf } from '../../shared/samples.ts'
import { answerTo } from './answer-to.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const ofHead = requestOf()
const ofFocus = requestOf({ cause: 'comment:5', focus: 'look at auth', askedBy: 'person' })

async function accepted(request: RunRequest): Promise<Run> {
  const options = { deliveryId: request.cause, writer: 'w', now: world.now, signal: AbortSignal.timeout(8_000) }
  return (await acceptRun(world.ledger, request, options)).run
}

/** The run of the request is reviewed a minute later, with the given verdict. */
async function reviewed(request: RunRequest, verdict: string): Promise<void> {
  world.now += 60_000
  const run = await accepted(request)
  const end = { state: 'ended', outcome: 'reviewed', verdict } as const
  expect(await updateRun(world.ledger, run, end, { now: world.now })).toBeDefined()
}

/** The given run has spoken last for the pull request. */
const spoken = ({ runId }: RunRequest) =>
  world.put({
    ...keyOf.thread(repository.id, 42),
    ...threadOf({ head: ofHead.head, round: 1, liveRun: { runId, attempt: 1, kind: 'full', eventAt: 1 } }),
  })

async function stored({ runId }: RunRequest): Promise<Run> {
  const run = await readRun(world.ledger, runId)
  if (!run) throw new Error('Expected the run to be stored, found none')
  return run
}

describe('/muster retry', () => {
  it('LE16: takes up an incomplete review, although a later run of the head is complete', async () => {
    await reviewed(ofHead, 'pass')
    await reviewed(ofFocus, 'incomplete')
    await spoken(ofFocus)
    expect(await answerTo(world, '/muster status')).toMatch(/attempt 1: reviewed, incomplete/)
    expect(await answerTo(world, '/muster retry')).toMatch(/taken up again/)
    expect(await stored(ofFocus)).toMatchObject({ attempt: 2, state: 'accepted', focus: 'look at auth' })
    expect(await stored(ofHead)).toMatchObject({ attempt: 1, state: 'ended' })
  })

  it('gives its reviews an earlier turn than reviews pushed at the same time', async () => {
    await reviewed(ofHead, 'incomplete')
    await spoken(ofHead)
    await answerTo(world, '/muster retry')
    expect(turnOf(await stored(ofHead))).toBe(world.now - TURN_ASKED_MS)
  })
})

describe('/muster review', () => {
  it('gives its reviews an earlier turn than reviews pushed at the same time', async () => {
    await answerTo(world, '/muster review')
    expect(turnOf(await stored(ofHead))).toBe(world.now - TURN_ASKED_MS)
  })
})

describe('a review without a person’s request', () => {
  it('gets no earlier turn for having been held', async () => {
    const { now } = world
    await accepted(ofHead)
    const reason = { code: 'halted', sentence: 'Halted.' } as const
    const held = await writeHeld(world.ledger, { ...ofHead, attempt: 1 }, reason, now)
    if (!held) throw new Error('Expected the run to be held')
    expect(await resumeRun(world.ledger, held, now + 60_000)).toMatchObject({ attempt: 2 })
    expect(turnOf(await stored(ofHead))).toBe(now)
  })
})
