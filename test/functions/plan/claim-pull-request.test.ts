/** Claiming a pull request over the real ledger, with GitHub scripted by the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimPullRequest } from '../../../functions/plan/claim-pull-request.ts'
import type { PlanDeps } from '../../../functions/plan/deps.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { readThread } from '../../../shared/ledger/thread.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, sha } from '../../shared/samples.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const request = requestOf({ opensSeries: true })

async function accepted(wanted = request): Promise<Run> {
  const options = { deliveryId: wanted.head, writer: wanted.head, now: world.now, signal: AbortSignal.timeout(8_000) }
  return (await acceptRun(world.ledger, wanted, options)).run
}

/** Claims while GitHub shows these heads in turn, each with a time of change (ms UTC). */
function claimed(run: Run, ...shown: readonly (() => Promise<readonly [head: string, updatedAt: number]>)[]) {
  let asked = 0
  const pullRequest = async () => {
    asked += 1
    const [head, updatedAt] = (await shown[asked - 1]?.()) ?? ['asked once too often', 0]
    return { head: { sha: head }, state: 'open', updatedAt }
  }
  return claimPullRequest({ ...world.ending, github: { pullRequest } } as unknown as PlanDeps, run)
}
const showing = (head: string, updatedAt: number) => async () => [head, updatedAt] as const

const thread = () => readThread(world.ledger, repository.id, request.number)

describe('claimPullRequest', () => {
  it('a run claims for the head shown by GitHub', async () => {
    const answer = await claimed(await accepted(), showing(request.head, request.eventAt))
    expect(answer).toMatchObject({ kind: 'claimed' })
    expect(await thread()).toMatchObject({ head: request.head, liveRun: { runId: request.runId } })
  })

  it('D3: the thread keeps the time at which GitHub showed the pull request open, so that no earlier closing ends the run', async () => {
    await claimed(await accepted(), showing(request.head, request.eventAt + 9_000))
    expect(await thread()).toMatchObject({ liveRun: { eventAt: request.eventAt, openAt: request.eventAt + 9_000 } })
  })

  it('LE4: a late call of Plan claims nothing once another call has planned, or the run is held', async () => {
    const late = await accepted()
    await claimed(late, showing(request.head, request.eventAt))
    const options = { now: world.now }
    const claimedRun = await readRun(world.ledger, request.runId)
    if (!claimedRun) throw new Error('Expected a run.')
    const planned = await updateRun(world.ledger, claimedRun, { plan: 'digest', state: 'concluded' }, options)
    if (!planned) throw new Error('Expected the run to be updated.')
    expect(await claimed(late)).toMatchObject({ kind: 'planned', plan: 'digest', run: { state: 'concluded' } })
    expect(await readRun(world.ledger, request.runId)).toEqual(planned)
    await updateRun(world.ledger, planned, { state: 'held' }, options)
    expect(await claimed(late)).toEqual({ kind: 'held' })
  })

  it('IL1: a run claims nothing where GitHub shows a newer head, and names that head', async () => {
    const answer = await claimed(await accepted(), showing(sha('newer'), request.eventAt + 1_000))
    expect(answer).toMatchObject({ kind: 'end', outcome: 'superseded', shown: { head: { sha: sha('newer') } } })
    expect(await thread()).toBeUndefined()
  })

  it('PL8: a run claims nothing while GitHub is behind, and Plan asks again', async () => {
    const answer = claimed(await accepted(), showing(sha('older'), request.eventAt - 1_000))
    await expect(answer).rejects.toThrow(/head_not_visible/)
    expect(await thread()).toBeUndefined()
  })

  it('IL1, D3: a head of the same second may claim while GitHub is asked: an earlier answer of GitHub decides nothing', async () => {
    const newer = requestOf({ head: sha('newer'), eventAt: request.eventAt })
    const other = await accepted(newer)
    const before = async () => {
      const answer = await claimed(other, showing(newer.head, newer.eventAt))
      expect(answer).toMatchObject({ kind: 'claimed' })
      return [request.head, request.eventAt] as const
    }
    const answer = await claimed(await accepted(), before, showing(newer.head, newer.eventAt + 1_000))
    expect(answer).toMatchObject({ kind: 'end', outcome: 'superseded', shown: { head: { sha: newer.head } } })
    expect(await thread()).toMatchObject({ head: newer.head, liveRun: { runId: newer.runId } })
  })
})
