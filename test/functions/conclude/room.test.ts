/** Conclude over the real ledger: the answers for a run that may not speak any more. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CONTRACT } from '../../../shared/base/limits.ts'
import { acceptRun, beginEnding, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { readThread, writeClaim } from '../../../shared/ledger/thread.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { claim } from '../../../shared/runs/thread.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, sha } from '../../shared/samples.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
  world.now = Date.now()
  Object.assign(process.env, {
    TABLE_NAME: world.ledger.table,
    DOCUMENTS_BUCKET: 'documents',
    OUTBOX_URL: world.ending.outbox.url,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  })
})
afterEach(() => world.close())

const h1 = requestOf({ head: sha('h1'), eventAt: 1_000, opensSeries: true })
const h2 = requestOf({ head: sha('h2'), eventAt: 2_000 })

async function stored({ runId } = h1): Promise<Run> {
  const run = await readRun(world.ledger, runId)
  if (!run) throw new Error('Expected the run to be stored, found none')
  return run
}

/** The run of this request has claimed the pull request and planned; the earlier run is not told. */
async function claimed(request = h1): Promise<void> {
  const { ledger, now } = world
  const options = { deliveryId: request.head, writer: request.head, now, signal: AbortSignal.timeout(8_000) }
  const { run } = await acceptRun(ledger, request, options)
  const thread = await readThread(ledger, repository.id, request.number)
  const decision = claim(thread, run, now)
  if (decision.kind !== 'claim') throw new Error('Expected the run to claim')
  const { thread: next, entry } = decision
  expect(await writeClaim(ledger, { thread, next, entry, run, ends: undefined, now })).toBe('done')
  await updateRun(ledger, await stored(request), { plan: 'f'.repeat(64), planKey: 'k' }, { now })
}

async function conclude(attempt = 1): Promise<void> {
  vi.resetModules()
  const { handler } = await import('../../../functions/conclude/handler.ts')
  await handler({ contract: CONTRACT, runId: h1.runId, attempt, token: 'token' })
}

const SUPERSEDED = [{ token: 'token', output: { outcome: 'superseded' } }]

describe('Conclude', () => {
  it('IL11: a run that is ending concludes nothing, and its task gets an answer', async () => {
    await claimed()
    const reason = { code: 'cancelled', sentence: 'Cancelled by a person.' } as const
    await beginEnding(world.ledger, await stored(), { outcome: 'cancelled', reason, now: world.now })
    const before = await world.items()
    await conclude()
    expect(world.answers).toEqual(SUPERSEDED)
    expect(await world.items()).toEqual(before)
  })

  it('PR2, I4: a run concludes nothing after another run has claimed its pull request', async () => {
    await claimed(h1)
    await claimed(h2)
    const before = await world.items()
    await conclude()
    expect(world.answers).toEqual(SUPERSEDED)
    expect(await world.items()).toEqual(before)
  })

  it('IL11: an execution of another attempt concludes nothing', async () => {
    await claimed()
    const before = await world.items()
    await conclude(2)
    expect(world.answers).toEqual(SUPERSEDED)
    expect(await world.items()).toEqual(before)
  })
})
