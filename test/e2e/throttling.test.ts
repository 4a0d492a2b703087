/** A model that answers 429 for longer than patience, through the whole local stack: given up, named, and retried. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'

patientTests()

let muster: Muster
beforeAll(async () => {
  // Short, so that patience ends soon and the equally faster sweeper notices.
  muster = await startMuster({ model: true, leaseSeconds: 9, patienceMinutes: 0.4 })
})
afterAll(() => muster?.close())

const conclusionsOf = (pullRequest: TestPullRequest) =>
  muster.shown(pullRequest).checkRuns.flatMap(({ runs }) => runs.map(({ conclusion }) => conclusion))
const summaryOf = (pullRequest: TestPullRequest) => muster.shown(pullRequest).issueComments[0]?.body ?? ''
const reviewOf = async (run: Record<string, unknown>, lens: string) =>
  muster.aws.item(`RUN#${run.runId}`, `REVIEW#${run.planKey}#${lens}#0`)
const THROTTLED = { status: 429, retryAfterSeconds: 1 }

describe('a throttled model', () => {
  it('L2, LE9: beyond patience the verdict is incomplete and names the lens; retry adds only the missing reviews', async () => {
    muster.model.answer('impatient_one', THROTTLED)
    const repository = await muster.repository('impatient')
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const impatient_one = 1\n' })
    const run = await muster.ended(pullRequest)
    expect(run).toMatchObject({ outcome: 'reviewed', verdict: 'incomplete', concludedWhole: false })
    expect(conclusionsOf(pullRequest)).toEqual(['neutral'])
    expect(summaryOf(pullRequest)).toMatch(/lens correctness failed: model_throttled: led was throttled for longer/)
    const analyzed = await reviewOf(run, 'secrets')

    muster.model.answer('impatient_one', { findings: [] })
    const answer = await fetch(`${muster.stack.apiUrl}/runs/${run.runId}/retry`, { method: 'POST' })
    expect(answer.status).toBe(200)
    expect(await muster.runEnded(String(run.runId), 2)).toMatchObject({ verdict: 'pass', concludedWhole: true })
    expect(conclusionsOf(pullRequest)).toEqual(['success'])
    expect(await reviewOf(run, 'secrets')).toEqual(analyzed)
  })

  it('L2: a used-up quota fails at once, with the remedy', async () => {
    muster.model.answer('unpaid_one', { status: 402 })
    const repository = await muster.repository('unpaid')
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const unpaid_one = 1\n' })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'incomplete' })
    expect(summaryOf(pullRequest)).toMatch(/model_quota_exhausted.*credit/)
    expect(muster.model.callsAbout('unpaid_one')).toHaveLength(1)
  })
})
