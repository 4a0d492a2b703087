import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HaltScope, liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { readResources, resourceIn } from '../../../shared/ledger/resource.ts'
import { acceptRun, beginEnding, endRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { contended, type Item, keyOf } from '../../../shared/ledger/table.ts'
import {
  type ConclusionWrite,
  countRound,
  type Moved,
  readThread,
  writeClaim,
  writeConclusion,
} from '../../../shared/ledger/thread.ts'
import { isLive, type Run, type RunRequest } from '../../../shared/runs/run.ts'
import { claim, type Thread } from '../../../shared/runs/thread.ts'
import { repository, requestOf, sha } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const h1 = requestOf({ head: sha('h1'), eventAt: 1_000, opensSeries: true })
const h2 = requestOf({ head: sha('h2'), eventAt: 2_000 })

async function accept(request = h1): Promise<Run> {
  const { run } = await acceptRun(world.ledger, request, {
    deliveryId: `delivery-${request.head}`,
    writer: request.head,
    now: world.now,
    signal: AbortSignal.timeout(8_000),
  })
  return run
}

/** Another delivery for an existing run. */
const joins = (request: RunRequest) =>
  acceptRun(world.ledger, request, {
    deliveryId: `joins at ${request.eventAt}`,
    writer: `joins at ${request.eventAt}`,
    now: world.now,
    signal: AbortSignal.timeout(8_000),
  })

async function stored(runId: string): Promise<Run> {
  const run = await readRun(world.ledger, runId)
  if (!run) throw new Error('Expected the run to be stored, found none')
  return run
}

async function thread(): Promise<Thread> {
  const found = await readThread(world.ledger, repository.id, 42)
  if (!found) throw new Error('Expected the thread to be stored, found none')
  return found
}

/** One read-decide-write of a claim, as plan does it; `between` happens between reading and writing. */
async function claimOnce(
  runId: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Moved | 'superseded'> {
  const before = await readThread(world.ledger, repository.id, 42)
  const run = await stored(runId)
  const decision = claim(before, run, world.now)
  await between()
  if (decision.kind === 'superseded') return 'superseded'
  const ending = decision.ends === undefined ? undefined : await readRun(world.ledger, decision.ends)
  return writeClaim(world.ledger, {
    thread: before,
    next: decision.thread,
    entry: decision.entry,
    run,
    ends: ending && isLive(ending.state) ? ending : undefined,
    now: world.now,
  })
}

/** The said review of a run, in its series. */
const said = ({ runId }: { runId: string }, series = 1) => ({ runId, planKey: 'plan', key: 'review', series })

const claimed = (runId: string) => contended(() => claimOnce(runId))

const entries = async (): Promise<Item[]> => (await world.items()).filter(({ sk }) => String(sk).startsWith('ENTRY#'))

const halts = [
  ['fleet', 'fleet'],
  ['installation', `installation/${repository.installationId}`],
  ['repository', `repository/${repository.id}`],
] as const
const halt = (scope: HaltScope) => setHalt(world.ledger, { scope, by: 'a person', why: 'a reason', since: 1 })

describe('writeClaim', () => {
  it('IL1: a newer head takes over: thread, run, checkpoint and the ending of the run before, all at once', async () => {
    const first = await accept(h1)
    const second = await accept(h2)
    expect(await claimed(first.runId)).toBe('done')
    expect(await claimed(second.runId)).toBe('done')
    expect(await thread()).toMatchObject({
      head: h2.head,
      series: 1,
      nextSequence: 2,
      liveRun: { runId: second.runId, attempt: 1, kind: 'full', eventAt: 2_000 },
      version: 2,
    })
    expect(await stored(second.runId)).toMatchObject({ state: 'running' })
    expect(await stored(first.runId)).toMatchObject({
      state: 'ending',
      outcome: 'superseded',
      reason: { code: 'head_superseded' },
    })
    expect(await entries()).toMatchObject([{ head: h1.head }, { head: h2.head }])
    expect(await world.item(keyOf.run(first.runId))).toMatchObject({ dueAt: world.now })
  })

  it('IL1: a run whose head was pushed back to before its end is asked for once more', async () => {
    const first = await accept(h1)
    const second = await accept(h2)
    expect(await claimed(first.runId)).toBe('done')
    expect(await claimOnce(second.runId, () => joins({ ...h1, eventAt: 3_000 }))).toBe('done')
    expect(await stored(first.runId)).toMatchObject({ state: 'ending', askedAgain: { eventAt: 3_000 } })
  })

  it('IL1: after the claim of H2, the run of H1 with an older view is refused, and superseded after another read', async () => {
    const first = await accept(h1)
    const second = await accept(h2)
    const answer = await claimOnce(first.runId, () => claimed(second.runId))
    expect(answer).toBe('again')
    expect(await claimed(first.runId)).toBe('superseded')
    expect(await thread()).toMatchObject({ head: h2.head, liveRun: { runId: second.runId } })
    expect(await stored(second.runId)).toMatchObject({ state: 'running' })
    expect(await entries()).toHaveLength(1)
  })

  it('D3, D8: of five concurrent claims the latest event is live at the end, and its run alone is running', async () => {
    const requests = [1, 2, 3, 4, 5].map((eventAt) => requestOf({ head: sha(`head-${eventAt}`), eventAt }))
    for (const request of requests) await accept(request)
    await Promise.all(requests.map(({ runId }) => claimed(runId)))
    const live = await thread()
    expect(live.liveRun?.eventAt).toBe(5)
    for (const { runId, eventAt } of requests) {
      expect((await stored(runId)).state === 'running').toBe(eventAt === 5)
    }
    const sequences = (await entries()).map(({ sk }) => Number(String(sk).slice('ENTRY#'.length)))
    expect(sequences).toEqual(Array.from({ length: live.nextSequence }, (_, index) => index))
  })

  it('RO9: a claim decided before a round was counted does not take the round back', async () => {
    const first = await accept(h1)
    const second = await accept(h2)
    await claimed(first.runId)
    await endRun(world.ledger, await stored(first.runId), { outcome: 'reviewed', now: world.now })
    const counted = () => countRound(world.ledger, { repositoryId: repository.id, number: 42 }, said(h1))
    expect(await claimOnce(second.runId, counted)).toBe('again')
    expect(await claimed(second.runId)).toBe('done')
    expect(await thread()).toMatchObject({ round: 1, head: h2.head })
  })

  it('IL1: an earlier run that ended meanwhile does not end again', async () => {
    const first = await accept(h1)
    const second = await accept(h2)
    await claimed(first.runId)
    const before = await stored(first.runId)
    await endRun(world.ledger, before, { outcome: 'reviewed', now: world.now })
    const decision = claim(await thread(), second, world.now)
    if (decision.kind !== 'claim') throw new Error(`Expected a claim, got ${decision.kind}`)
    const { thread: next, entry } = decision
    const write = { thread: await thread(), next, entry, run: second, ends: before, now: world.now }
    expect(await writeClaim(world.ledger, write)).toBe('again')
    expect(await stored(first.runId)).toMatchObject({ state: 'ended', outcome: 'reviewed' })
  })

  it.each(halts)('PL4: under a halt of the %s nothing is claimed, and nothing at all is written', async (_, scope) => {
    const run = await accept(h1)
    await halt(scope)
    const before = await world.items()
    expect(await claimed(run.runId)).toBe('halted')
    expect(await world.items()).toEqual(before)
    await liftHalt(world.ledger, scope)
    expect(await claimed(run.runId)).toBe('done')
  })

  it('a halt of another repository stops nothing', async () => {
    await halt('repository/8')
    expect(await claimed((await accept(h1)).runId)).toBe('done')
  })

  it('a run whose ending has begun claims nothing', async () => {
    const run = await accept(h1)
    const answer = await claimOnce(run.runId, () =>
      beginEnding(world.ledger, run, {
        outcome: 'closed',
        reason: { code: 'pull_request_closed', sentence: 'Closed.' },
        now: world.now,
      }),
    )
    expect(answer).toBe('again')
    expect(await readThread(world.ledger, repository.id, 42)).toBeUndefined()
  })

  it('AW32: a claim whose answer was lost is done once', async () => {
    const run = await accept(h1)
    world.wire.loseAnswer(({ operation }) => operation === 'TransactWriteItems')
    expect(await claimed(run.runId)).toBe('done')
    expect(await thread()).toMatchObject({ version: 1, nextSequence: 1 })
  })
})

describe('writeConclusion', () => {
  const conclusionOf = async (run: Run, changes: Partial<ConclusionWrite> = {}): Promise<ConclusionWrite> => ({
    thread: await thread(),
    run: await stored(run.runId),
    verdict: 'concerns',
    conclusion: 'digest',
    planKey: 'plan-key',
    whole: true,
    round: 1,
    token: 'token-1',
    message: { key: 'review', document: 'document', round: 1, before: undefined },
    resources: [
      { kind: 'check_run', key: run.head, document: 'd1' },
      { kind: 'summary', key: 'main', document: 'd2' },
      { kind: 'label', key: 'main', document: 'd3' },
    ],
    now: world.now,
    ...changes,
  })

  it('a conclusion writes run, thread, verdict entry, message and resources in one step', async () => {
    const run = await accept(h1)
    await claimed(run.runId)
    expect(await writeConclusion(world.ledger, await conclusionOf(run))).toBe('done')
    expect(await stored(run.runId)).toMatchObject({
      state: 'concluded',
      verdict: 'concerns',
      token: 'token-1',
      conclusion: 'digest',
      concludedPlanKey: 'plan-key',
    })
    expect(await thread()).toMatchObject({ round: 0, nextSequence: 2, lastConclusion: { digest: 'digest' } })
    expect(await entries()).toMatchObject([{ kind: 'checkpoint' }, { kind: 'verdict', round: 1, series: 1 }])
    const due = (await world.items())
      .filter(({ dueAt }) => dueAt !== undefined)
      .map(({ sk }) => String(sk).split('#')[0])
    expect(due.toSorted()).toEqual(['MESSAGE', 'RUN', 'SHOWN'])
  })

  it.each(halts)('RC4, PL4: under a halt of the %s a conclusion writes nothing', async (_, scope) => {
    const run = await accept(h1)
    await claimed(run.runId)
    const write = await conclusionOf(run)
    await halt(scope)
    const before = await world.items()
    expect(await writeConclusion(world.ledger, write)).toBe('halted')
    expect(await world.items()).toEqual(before)
  })

  it('PR2, I4: once a newer head has claimed, the older run concludes nothing', async () => {
    const first = await accept(h1)
    const second = await accept(h2)
    await claimed(first.runId)
    const write = await conclusionOf(first)
    await claimed(second.runId)
    const before = await world.items()
    expect(await writeConclusion(world.ledger, write)).toBe('again')
    expect(await world.items()).toEqual(before)
  })

  it('IL11: a run whose ending has begun concludes nothing', async () => {
    const run = await accept(h1)
    await claimed(run.runId)
    const write = await conclusionOf(run)
    const reason = { code: 'cancelled', sentence: 'Cancelled by a person.' } as const
    await beginEnding(world.ledger, await stored(run.runId), { outcome: 'cancelled', reason, now: world.now })
    const before = await world.items()
    expect(await writeConclusion(world.ledger, write)).toBe('again')
    expect(await world.items()).toEqual(before)
  })

  it('IL10: exactly one of two conclusions of an attempt is written', async () => {
    const run = await accept(h1)
    await claimed(run.runId)
    const [first, second] = [await conclusionOf(run), await conclusionOf(run, { token: 'token-2' })]
    const answers = await Promise.all([writeConclusion(world.ledger, first), writeConclusion(world.ledger, second)])
    expect(answers.toSorted()).toEqual(['again', 'done'])
    expect((await thread()).nextSequence).toBe(2)
  })

  it('IL2: a message that was said meanwhile is not owed again', async () => {
    const run = await accept(h1)
    await claimed(run.runId)
    await world.put({ ...keyOf.message(repository.id, 42, run.runId, 'plan-key', 'review'), state: 'said' })
    const write = await conclusionOf(run, { message: { key: 'review', document: 'd', round: 1, before: 'withdrawn' } })
    expect(await writeConclusion(world.ledger, write)).toBe('again')
    expect((await thread()).nextSequence).toBe(1)
  })

  it('RO2: a review that was said without a round uses its given round, and no second round', async () => {
    const run = await accept(h1)
    await claimed(run.runId)
    const key = keyOf.message(repository.id, 42, run.runId, 'plan-key', 'review')
    await world.put({ ...key, state: 'said', round: 0 })
    const roundOf = { key: 'review', round: 1 }
    expect(await writeConclusion(world.ledger, await conclusionOf(run, { message: undefined, roundOf }))).toBe('done')
    expect(await world.item(key)).toMatchObject({ state: 'said', round: 1 })
    await updateRun(world.ledger, await stored(run.runId), { state: 'running' }, { now: world.now })
    expect(await writeConclusion(world.ledger, await conclusionOf(run, { message: undefined, roundOf }))).toBe('again')
  })

  it('IL5: each conclusion raises a new generation of its resources', async () => {
    const run = await accept(h1)
    await claimed(run.runId)
    await writeConclusion(world.ledger, await conclusionOf(run))
    await updateRun(world.ledger, await stored(run.runId), { state: 'running' }, { now: world.now })
    await writeConclusion(world.ledger, await conclusionOf(run, { message: undefined }))
    const resources = await readResources(world.ledger, { repositoryId: repository.id, number: 42 })
    expect(resourceIn(resources, { kind: 'summary', key: 'main' })).toMatchObject({ generation: 2, shownGeneration: 0 })
  })
})

describe('countRound', () => {
  const pullRequest = { repositoryId: repository.id, number: 42 }
  const counted = (...shown: ReturnType<typeof said>[]) =>
    Promise.all(shown.map((message) => countRound(world.ledger, pullRequest, message)))

  it('I9: a shown review is counted once, however often Post reports the review', async () => {
    await claimed((await accept(h1)).runId)
    await counted(said(h1), said(h1), said(h1))
    expect((await thread()).round).toBe(1)
    await counted(said(h1))
    expect(await thread()).toMatchObject({ round: 1, version: 2 })
  })

  it('IL2: two reviews that are shown are two rounds, in whichever order, and told again are no more', async () => {
    await claimed((await accept(h1)).runId)
    await counted(said(h2), said(h1))
    await counted(said(h1), said(h2))
    expect((await thread()).round).toBe(2)
  })

  it('IL2: counted while another is, after both have read the thread, neither is lost', async () => {
    await claimed((await accept(h1)).runId)
    world.wire.beforeAnswer(
      ({ operation }) => operation === 'GetItem',
      async () => void (await counted(said(h2))),
    )
    await counted(said(h1))
    expect((await thread()).round).toBe(2)
  })

  it('RO9: a review of an earlier series counts nothing in the present series', async () => {
    await claimed((await accept(h1)).runId)
    await counted(said(h1, 0))
    expect((await thread()).round).toBe(0)
  })

  it('a review of a pull request without a thread counts nothing', async () => {
    await counted(said(h1))
    expect(await world.items()).toEqual([])
  })
})
