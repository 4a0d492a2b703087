/** Claiming a pull request over the real ledger, with GitHub as a test says. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimPullRequest } from '../../../functions/plan/claim-pull-request.ts'
import type { PlanParts } from '../../../functions/plan/parts.ts'
import { acceptRun } from '../../../shared/ledger/run.ts'
import { readThread } from '../../../shared/ledger/thread.ts'
import type { Run } from '../../../shared/run.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, sha } from '../../shared/samples.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const request = requestOf({ opensSeries: true })

async function accepted(): Promise<Run> {
  const options = { deliveryId: 'd1', writer: 'w', now: world.now, signal: AbortSignal.timeout(8_000) }
  return (await acceptRun(world.ledger, request, options)).run
}

/** Claims while GitHub shows this head, as it was changed then (ms UTC). */
async function claimed(run: Run, head: string, updatedAt: number) {
  const shown = { head: { sha: head }, state: 'open', updatedAt }
  const github = { pullRequest: () => Promise.resolve(shown) }
  return claimPullRequest({ ...world.ending, github } as unknown as PlanParts, run)
}

const thread = () => readThread(world.ledger, repository.id, request.number)

describe('claimPullRequest', () => {
  it('claims for the head that GitHub shows', async () => {
    expect(await claimed(await accepted(), request.head, request.eventAt)).toMatchObject({ kind: 'claimed' })
    expect(await thread()).toMatchObject({ head: request.head, liveRun: { runId: request.runId } })
  })

  it('IL1: where GitHub shows a newer head nothing is claimed, and that head is named', async () => {
    const answer = await claimed(await accepted(), sha('newer'), request.eventAt + 1_000)
    expect(answer).toMatchObject({ kind: 'end', outcome: 'superseded', shown: sha('newer') })
    expect(await thread()).toBeUndefined()
  })

  it('PL8: where GitHub is behind nothing is claimed, and it is asked again', async () => {
    const run = await accepted()
    await expect(claimed(run, sha('older'), request.eventAt - 1_000)).rejects.toThrow(/head_not_visible/)
    expect(await thread()).toBeUndefined()
  })
})
