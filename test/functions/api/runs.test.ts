/** Runs through the API: shown, cancelled, asked for again. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TURN_ASKED_MS } from '../../../shared/base/limits.ts'
import { turnOf } from '../../../shared/fleet/schedule.ts'
import { completeReview, leaseReview } from '../../../shared/ledger/review.ts'
import { readRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { meaningOf, type Run } from '../../../shared/runs/run.ts'
import { admitted, heldParts, stored as storedReview, waitingItems } from '../../shared/coordinator/fleet-of-tests.ts'
import { requestOf, runOf } from '../../shared/samples.ts'
import { type ApiWorld, openApiWorld } from './world.ts'

let api: ApiWorld
beforeEach(async () => {
  api = await openApiWorld()
})
afterEach(() => api.close())

const { runId } = requestOf()
const other = 'e'.repeat(64)
const operator = 'arn:aws:iam::123456789012:user/ana'

async function stored(changes: Partial<Run> = {}): Promise<Run> {
  const run = runOf(changes)
  await api.world.put({ ...keyOf.run(run.runId), ...run, duePk: 'DUE#0', dueAt: api.world.now })
  return run
}
const cancel = (id = runId) => api.ask('POST /runs/{runId}/cancel', { path: { runId: id }, by: operator })
const retry = (headers: Record<string, string> = {}) =>
  api.ask('POST /runs/{runId}/retry', { path: { runId }, headers })
const started = () => api.world.asked.filter(({ operation }) => operation === 'StartExecution')

describe('POST /runs/{runId}/cancel', () => {
  it('LE6: a review cancelled with its ticket never starts, and the run ends with the canceller’s name', async () => {
    await stored({ state: 'running' })
    await api.world.limit({ configured: 1 })
    await admitted(api.world, 9, { runId: other })
    const review = await admitted(api.world, 0)
    const { status, body } = await cancel()
    expect([status, body]).toMatchObject([200, { run: runId, attempt: 1, state: 'ended', outcome: 'cancelled' }])
    expect(body.reason).toEqual({ code: 'cancelled', sentence: 'Cancelled by ana.' })
    expect((await waitingItems(api.world)).tickets).toEqual([])
    const { ledger, now } = api.world
    expect(await leaseReview(ledger, review, { epoch: 1, owner: 'a', now })).toEqual({ kind: 'stale' })
  })

  it('LE6: after a cancellation the granted worker is refused, and the slot goes to a waiting review', async () => {
    await stored({ state: 'running' })
    await api.world.limit({ configured: 1 })
    const review = await admitted(api.world, 0)
    const { ledger, now } = api.world
    const lease = { epoch: 1, owner: 'a', now }
    expect((await leaseReview(ledger, review, lease)).kind).toBe('leased')
    await admitted(api.world, 1, { runId: other })
    await cancel()
    expect(await storedReview(api.world, 0)).toMatchObject({ state: 'ended', epoch: 2 })
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    expect((await completeReview(ledger, review, lease, outcome)).kind).toBe('stale')
    expect(await heldParts(api.world)).toEqual([1])
    expect(api.world.asked.map(({ operation }) => operation)).toContain('StopExecution')
  })

  it('a cancelled run ends as cancelled, and drops the attempt requested meanwhile', async () => {
    await stored({
      state: 'ending',
      outcome: 'closed',
      reason: { code: 'pull_request_closed', sentence: 'The pull request was closed.' },
      askedAgain: requestOf(),
    })
    const { body } = await cancel()
    expect(body).toMatchObject({ state: 'ended', attempt: 1, outcome: 'cancelled' })
    expect(body.reason).toEqual({ code: 'cancelled', sentence: 'Cancelled by ana.' })
    expect(started()).toEqual([])
  })

  it('cancelling an ending run changes neither outcome nor reason', async () => {
    await stored({ state: 'ending', outcome: 'superseded' })
    expect((await cancel()).body).toMatchObject({ state: 'ended', outcome: 'superseded' })
  })

  it('I9: cancelling an ended run changes nothing, and returns the run as it ended', async () => {
    await stored({ state: 'ended', outcome: 'reviewed' })
    expect(await cancel()).toMatchObject({ status: 200, body: { state: 'ended', outcome: 'reviewed' } })
  })

  it('an unknown run is answered 404', async () => {
    for (const id of [runId, 'x', '']) {
      expect(await cancel(id)).toMatchObject({ status: 404, body: { error: { code: 'unknown_run' } } })
    }
  })
})

describe('POST /runs/{runId}/retry', () => {
  it('LE16: a failed run gets its next attempt, which is started; its earlier verdict is kept for its plan key', async () => {
    await stored({ state: 'ended', outcome: 'failed', attempt: 2, concludedPlanKey: 'k', conclusion: 'c' })
    const { status, body } = await retry()
    expect([status, body]).toMatchObject([200, { status: 'raised', attempt: 3, state: 'accepted' }])
    expect(started()).toMatchObject([{ body: { input: JSON.stringify({ contract: 1, runId, attempt: 3 }) } }])
    const run = await readRun(api.world.ledger, runId)
    expect(run).toMatchObject({ concludedPlanKey: 'k', conclusion: 'c' })
    expect(run?.outcome).toBeUndefined()
  })

  it('reviews of a retry by a person get an earlier turn than reviews pushed at the same time', async () => {
    await stored({ state: 'ended', outcome: 'failed' })
    expect((await retry()).body).toMatchObject({ status: 'raised' })
    const run = await readRun(api.world.ledger, runId)
    if (!run) throw new Error('Expected the run to be stored, found none')
    expect(turnOf(run)).toBe(run.acceptedAt - TURN_ASKED_MS)
  })

  it('an incomplete verdict gets another attempt, a complete verdict none', async () => {
    await stored({ state: 'ended', outcome: 'reviewed', verdict: 'incomplete', concludedWhole: true })
    expect((await retry()).body).toMatchObject({ status: 'raised', attempt: 2 })
    await stored({ state: 'ended', outcome: 'reviewed', verdict: 'concerns', concludedWhole: false })
    expect((await retry()).body).toMatchObject({ status: 'raised', attempt: 2 })
    await stored({ state: 'ended', outcome: 'reviewed', verdict: 'concerns', concludedWhole: true })
    expect((await retry()).body).toMatchObject({ status: 'nothing_missing', attempt: 1, state: 'ended' })
  })

  it('I9: one Idempotency-Key makes one more attempt, however many requests carry it', async () => {
    await stored({ state: 'ended', outcome: 'failed' })
    const key = { 'idempotency-key': 'again-1' }
    expect((await retry(key)).body).toMatchObject({ status: 'raised', attempt: 2 })
    const run = await readRun(api.world.ledger, runId)
    if (!run) throw new Error('Expected the run to be stored, found none')
    await stored({ ...run, state: 'ended', outcome: 'reviewed', concludedWhole: true })
    expect((await retry(key)).body).toMatchObject({ status: 'replayed', attempt: 2 })
    expect((await retry({ 'idempotency-key': 'ü' })).body.error.code).toBe('payload_invalid')
  })

  it('a live run is joined, without a second execution', async () => {
    await stored({ state: 'running' })
    expect((await retry()).body).toMatchObject({ status: 'joined', attempt: 1, state: 'running' })
    expect(started()).toEqual([])
  })

  it('a series opened by the first attempt is not opened again by the next', async () => {
    const failed = { state: 'ended', outcome: 'failed', opensSeries: true } as const
    await stored({ ...failed, plan: 'p' })
    await retry()
    expect((await readRun(api.world.ledger, runId))?.opensSeries).toBe(false)
    await stored(failed)
    await retry()
    const run = await readRun(api.world.ledger, runId)
    expect(run?.opensSeries).toBe(true)
    // The run's own webhook still has the same cause with the same meaning.
    expect(run && meaningOf(run, requestOf(), 'd9')).toBe('join')
  })
})

describe('GET /runs/{runId}', () => {
  it('shows the state of a run, but no token', async () => {
    await stored({ state: 'running', token: 'secret-token' })
    const { status, body } = await api.ask('GET /runs/{runId}', { path: { runId } })
    expect([status, body]).toMatchObject([200, { run: runId, repository: 'acme/widgets', state: 'running' }])
    expect(JSON.stringify(body)).not.toContain('secret-token')
  })
})
