import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forgetMessage } from '../../../functions/post/message-steps.ts'
import { Dead } from '../../../shared/base/errors.ts'
import { CONTENT_PER_MINUTE_MAX, POST_ERRORS_MAX, POST_UNSEEN_MAX } from '../../../shared/base/limits.ts'
import { finishEnding } from '../../../shared/coordinator/ending.ts'
import { unreachable } from '../../../shared/github/failures.ts'
import { liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { leaseMessage } from '../../../shared/ledger/message.ts'
import { leaseResources, readResources } from '../../../shared/ledger/resource.ts'
import { beginEnding, endRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { checkRunIdentity, inProgressCheckRun } from '../../../shared/publishing/check-run.ts'
import { markerOf } from '../../../shared/publishing/github-payloads.ts'
import { type Around, commentOn, openPostWorld, type PostWorld, type Subject } from './world.ts'

let world: PostWorld
let subject: Subject
beforeEach(async () => {
  world = await openPostWorld()
  subject = await world.subject()
})
afterEach(() => world.close())

const REVIEWS = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'
const LIST = `GET ${REVIEWS}`
const CREATE = `POST ${REVIEWS}`
const SUBMIT = `POST ${REVIEWS}/{review_id}/events`
const leaseMs = () => world.local.ledger.timings.postLeaseMs

/** A poster that stops inside its first call of `method`, before or after GitHub has the call, until woken. */
function stalling(method: string, where: 'before' | 'after') {
  const reached = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<void>()
  let stalled = false
  const github: Around['github'] = async (called, call) => {
    if (called !== method || stalled) return call()
    stalled = true
    const answer = where === 'after' ? call() : undefined
    await answer
    reached.resolve()
    await woken.promise
    return answer ?? call()
  }
  return { around: { github }, reached: reached.promise, wake: woken.resolve }
}

/** Nudges as the sweeper does until nothing is due. */
async function rest(of: Subject = subject): Promise<void> {
  for (let nudges = 0; nudges < 30; nudges += 1) {
    const dueAt = await world.dueAt(of)
    if (dueAt === undefined) return
    world.local.now = Math.max(world.local.now, dueAt)
    await world.post(of)
  }
  throw new Error('Expected nothing to be due any more')
}

const reviewsSeen = () => world.seen(subject).reviews.map(({ state }) => state)
const writesAsked = () => world.standIn.requests().filter(({ method }) => method !== 'GET' && method !== 'HEAD')

describe('two posters', () => {
  it('LE7: A stalls inside its create past its lease, B takes over and says the review, A wakes up: one review is visible', async () => {
    await world.owe(subject)
    const a = stalling('createPendingReview', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    world.local.now += leaseMs()
    await world.post(subject)
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    a.wake()
    await posting
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.message(subject)).toMatchObject({ state: 'said' })
  })

  it('an abandoned lease on resources, taken by a late call, leaves nothing due', async () => {
    await world.raise(subject, { kind: 'label', label: 'muster: passed' })
    await rest()
    const { ledger } = world.local
    const resources = await readResources(ledger, {
      repositoryId: subject.run.repository.id,
      number: subject.run.number,
    })
    if (resources) expect(await leaseResources(ledger, resources, 'late', world.local.now)).toBe(true)
    expect(await world.dueAt(subject)).toBeDefined()
    await rest()
  })

  it('an abandoned lease on a said message, taken by a late call, leaves nothing due', async () => {
    await world.owe(subject)
    await rest()
    const { ledger } = world.local
    const message = await world.message(subject)
    if (message) expect(await leaseMessage(ledger, message, 'late', world.local.now)).toBe(true)
    expect(await world.dueAt(subject)).toBeDefined()
    await rest()
    expect(await world.message(subject)).toMatchObject({ state: 'said', leaseUntil: 0 })
  })

  it('an abandoned lease on a said message leaves nothing due, although GitHub fails its recheck (seed 4537)', async () => {
    await world.owe(subject)
    await rest()
    const message = await world.message(subject)
    if (message) expect(await leaseMessage(world.local.ledger, message, 'late', world.local.now)).toBe(true)
    world.local.now += leaseMs()
    const failing = world.standIn.fail({ route: LIST, kind: 'server_500', times: 100 })
    await world.post(subject)
    expect(failing.struck).toBeGreaterThan(0)
    failing.end()
    await rest()
    expect(await world.dueAt(subject)).toBeUndefined()
  })

  it.each([
    ['owed', {}, 'failed'],
    ['withdrawing', { state: 'withdrawing' }, 'failed'],
    ['said with a due recheck', { state: 'said', recheckAt: 1 }, 'said'],
  ] as const)('a message of a removed run, %s, is not due any more', async (_when, members, state) => {
    await world.owe(subject)
    const { ledger, now } = world.local
    const message = await world.message(subject)
    if (!message) throw new Error('Expected the message to be stored, found none')
    const { repositoryId, number, runId, planKey, key } = message
    await world.local.put({ ...keyOf.message(repositoryId, number, runId, planKey, key), ...message, ...members })
    const asked = world.standIn.requests().length
    await forgetMessage({ ledger, owner: 'poster', now: () => now }, { ...message, ...members })
    const after = await world.message(subject)
    expect(after).toMatchObject({ state, leaseUntil: 0 })
    for (const member of ['dueAt', 'duePk', 'owner', 'recheckAt']) expect(after).not.toHaveProperty(member)
    expect(world.standIn.requests()).toHaveLength(asked)
  })

  it('LE7, AW73: A stalls inside its create while GitHub’s lists lag: A sees no review of B and stops without its lease', async () => {
    await world.owe(subject)
    const a = stalling('createPendingReview', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    world.local.now += leaseMs()
    world.standIn.lag({ route: `GET ${REVIEWS}`, lagMs: 20_000 })
    await world.post(subject)
    a.wake()
    await posting
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
  })

  it('LE7: A stalls inside its submit past its lease: the review is said and counted once', async () => {
    await world.owe(subject)
    const a = stalling('submitReview', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    world.local.now += leaseMs()
    await world.post(subject)
    a.wake()
    await posting
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.round(subject)).toBe(1)
  })

  it('LE7: A stalls with the summary created and not recorded: one comment is visible', async () => {
    await world.raise(subject, { kind: 'summary', body: 'one' })
    const a = stalling('createComment', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    world.local.now += leaseMs()
    await world.post(subject)
    a.wake()
    await posting
    await rest()
    expect(world.seen(subject).issueComments).toHaveLength(1)
  })

  it('IL5: a change of generation 1 lands after generation 2 and the death of its poster: generation 2 comes back', async () => {
    await world.raise(subject, { kind: 'summary', body: 'zero' })
    await world.post(subject)
    await world.raise(subject, { kind: 'summary', body: 'one' })
    const a = stalling('updateComment', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    await world.raise(subject, { kind: 'summary', body: 'two' })
    world.local.now += leaseMs()
    await world.post(subject)
    a.wake()
    await posting
    expect(world.seen(subject).issueComments[0]?.body).toContain('one')
    await rest()
    expect(world.seen(subject).issueComments.map(({ body }) => body.split('\n')[0])).toEqual(['two'])
  })
})

describe('an unanswered call', () => {
  /** Orders a fault that holds the request back, and a poster that doesn't wait for the answer. */
  function lateCreate() {
    const failing = world.standIn.fail({ route: CREATE, kind: 'late' })
    const github: Around['github'] = (method, call) =>
      method === 'createPendingReview' && failing.struck === 0
        ? Promise.race([
            call(),
            failing.spent.then(() => Promise.reject(unreachable({ route: CREATE, writes: true }, 'not in time'))),
          ])
        : call()
    const landed = Promise.withResolvers<void>()
    world.standIn.observe(({ fault }) => {
      if (fault === 'late') landed.resolve()
    })
    const land = () => {
      failing.release()
      return landed.promise
    }
    return { around: { github }, land }
  }

  it('IL14: a create lands after its review was said: the pending review is found and deleted', async () => {
    await world.owe(subject)
    const late = lateCreate()
    await world.post(subject, late.around)
    expect(await world.message(subject)).toMatchObject({ state: 'owed', errors: 1 })
    await world.post(subject)
    const said = await world.message(subject)
    expect(said).toMatchObject({ state: 'said' })
    await late.land()
    expect(reviewsSeen().toSorted()).toEqual(['COMMENTED', 'PENDING'])
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.message(subject)).not.toHaveProperty('recheckAt')
  })

  it('IL14: a create lands after its message was given up: the pending review is deleted', async () => {
    await world.owe(subject)
    const late = lateCreate()
    await world.post(subject, late.around)
    world.standIn.fail({ route: CREATE, kind: 'server_500', times: 100 })
    for (let tries = 1; tries < POST_ERRORS_MAX; tries += 1) await world.post(subject)
    expect(await world.message(subject)).toMatchObject({ state: 'failed' })
    await late.land()
    expect(reviewsSeen()).toEqual(['PENDING'])
    await rest()
    expect(reviewsSeen()).toEqual([])
    expect(await world.message(subject)).toMatchObject({ state: 'failed' })
  })

  it('IL2: a submit lands after its message was given up: the review is said and its round counts', async () => {
    await world.owe(subject)
    world.standIn.fail({ route: SUBMIT, kind: 'server_500', times: POST_ERRORS_MAX })
    for (let tries = 0; tries < POST_ERRORS_MAX; tries += 1) await world.post(subject)
    expect(await world.message(subject)).toMatchObject({ state: 'failed' })
    const [pending] = world.seen(subject).reviews
    const { repository, number } = { ...subject, repository: world.repository }
    await world.github.submitReview(repository, number, pending?.id ?? 0, 'COMMENT', pending?.body)
    await rest()
    expect(await world.message(subject)).toMatchObject({ state: 'said' })
    expect(await world.round(subject)).toBe(1)
  })

  it('IL2: a review found by a recheck counts its round before its message is said', async () => {
    await world.owe(subject)
    world.standIn.fail({ route: SUBMIT, kind: 'server_500', times: POST_ERRORS_MAX })
    for (let tries = 0; tries < POST_ERRORS_MAX; tries += 1) await world.post(subject)
    const [pending] = world.seen(subject).reviews
    await world.github.submitReview(world.repository, subject.number, pending?.id ?? 0, 'COMMENT', pending?.body)
    world.local.now += leaseMs()
    const died = world.post(subject, {
      recorded: async () => {
        if ((await world.message(subject))?.state === 'said') throw new Error('The poster dies here.')
      },
    })
    await expect(died).rejects.toThrow('dies here')
    expect(await world.round(subject)).toBe(1)
  })

  it('IL14: a recheck leaves the pending review of a newer run alone', async () => {
    await world.owe(subject)
    await world.post(subject, lateCreate().around)
    await world.post(subject)
    const body = `newer\n${markerOf.review('newer', 'plan')}`
    await world.github.createPendingReview(world.repository, subject.number, {
      commitId: subject.run.head,
      body,
      comments: [],
    })
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED', 'PENDING'])
  })
})

describe('the end of a run', () => {
  /** A newer head has claimed the pull request: the run ends, and its message is withdrawn. */
  async function superseded(): Promise<void> {
    const reason = { code: 'head_superseded', sentence: 'A newer head.' } as const
    const { ledger, ending, now } = world.local
    await beginEnding(ledger, subject.run, { outcome: 'superseded', reason, now })
    expect(await finishEnding(ending, subject.run.runId)).toBe(true)
  }

  it('IL2: a submit lands after the withdrawal: the review is said and counts as a round', async () => {
    await world.owe(subject)
    const a = stalling('submitReview', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    await superseded()
    a.wake()
    await posting
    world.local.now += leaseMs()
    await world.post(subject)
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.message(subject)).toMatchObject({ state: 'said' })
    expect(await world.round(subject)).toBe(1)
  })

  it('IL2: a pending review deleted before its submit is never visible and not counted, also when its poster wakes up', async () => {
    await world.owe(subject)
    const a = stalling('submitReview', 'before')
    const posting = world.post(subject, a.around)
    await a.reached
    await superseded()
    world.local.now += leaseMs()
    await world.post(subject)
    expect(await world.message(subject)).toMatchObject({ state: 'withdrawn' })
    a.wake()
    await posting
    await rest()
    expect(reviewsSeen()).toEqual([])
    expect(await world.round(subject)).toBe(0)
  })

  it('IL2: a create lands after the withdrawal and the death of its poster: no pending review is left', async () => {
    await world.owe(subject)
    const a = stalling('createPendingReview', 'before')
    void world.post(subject, a.around)
    await a.reached
    await superseded()
    world.local.now += leaseMs()
    await world.post(subject)
    expect(await world.message(subject)).toMatchObject({ state: 'withdrawn' })
    const payload = `late\n${subject.marker}`
    const { head } = subject.run
    await world.github.createPendingReview(world.repository, subject.number, {
      commitId: head,
      body: payload,
      comments: [],
    })
    await rest()
    expect(reviewsSeen()).toEqual([])
  })
})

describe('errors and refusals of GitHub', () => {
  it('LE9: five errors make the message failed, the run names the reason, and nothing is due any more', async () => {
    await world.owe(subject)
    world.standIn.fail({ route: CREATE, kind: 'bad_gateway_502', times: 100 })
    for (let tries = 0; tries < POST_ERRORS_MAX; tries += 1) {
      expect(await world.message(subject)).toMatchObject({ state: 'owed', errors: tries })
      await world.post(subject)
    }
    expect(await world.message(subject)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('post_failed: github_unreachable'),
    })
    const run = await world.local.item({ pk: `RUN#${subject.run.runId}`, sk: 'RUN' })
    expect(run).toMatchObject({ state: 'ended', outcome: 'failed', reason: { code: 'post_failed' } })
  })

  /** All attempts but the last have ended in an error, long enough ago that no recheck of them is left. */
  async function lastTry(): Promise<void> {
    await world.owe(subject)
    const tries = POST_ERRORS_MAX - 1
    world.standIn.fail({ route: SUBMIT, kind: 'bad_gateway_502', times: tries })
    for (let left = tries; left > 0; left -= 1) await world.post(subject)
    world.local.now += leaseMs()
    expect(await world.message(subject)).toMatchObject({ state: 'owed', errors: tries })
  }
  const ended = async () => (await readRun(world.local.ledger, subject.run.runId))?.outcome

  it('AW73, LE9: a submit of the last attempt is looked for in a lagging list before the message is given up', async () => {
    await lastTry()
    world.standIn.lag({ route: `GET ${REVIEWS}`, lagMs: 20_000 })
    await world.post(subject)
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.message(subject)).toMatchObject({ state: 'owed', errors: POST_ERRORS_MAX })
    await rest()
    expect(await world.message(subject)).toMatchObject({ state: 'said' })
    expect(await ended()).toBe('reviewed')
    expect(await world.round(subject)).toBe(1)
  })

  it('LE9: a submit that never becomes visible is looked for a bounded number of times', async () => {
    await lastTry()
    const lost: Around['github'] = (method, call) => (method === 'submitReview' ? Promise.resolve('submitted') : call())
    for (let errors = POST_ERRORS_MAX; errors < POST_UNSEEN_MAX; errors += 1) {
      await world.post(subject, { github: lost })
      expect(await world.message(subject)).toMatchObject({ state: 'owed', errors })
    }
    await world.post(subject, { github: lost })
    expect(await world.message(subject)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('post_failed: not_shown'),
    })
    await rest()
    expect(reviewsSeen()).toEqual([])
    expect(await ended()).toBe('failed')
  })

  it.each([
    ['fails', () => unreachable({ route: REVIEWS, writes: false }, 'not in time')],
    ['is refused', () => new Dead('github_refused', 'Not accessible.', 'Check the permissions.')],
  ])(
    'LE14, IL2: a submit of the last attempt whose list %s is given up, and found by the recheck',
    async (_how, failure) => {
      await lastTry()
      let submitted = false
      const github: Around['github'] = async (method, call) => {
        if (submitted && method === 'reviews') throw failure()
        const answer = await call()
        submitted ||= method === 'submitReview'
        return answer
      }
      await world.post(subject, { github })
      expect(reviewsSeen()).toEqual(['COMMENTED'])
      expect(await world.message(subject)).toMatchObject({ state: 'failed', recheckAt: world.local.now + leaseMs() })
      await rest()
      expect(await world.message(subject)).toMatchObject({ state: 'said' })
      expect(await world.message(subject)).not.toHaveProperty('recheckAt')
      expect(await world.round(subject)).toBe(1)
    },
  )

  it('LE14: a submit that GitHub confirms and does not show is not said before the review is seen', async () => {
    await world.owe(subject)
    const lost: Around['github'] = (method, call) => (method === 'submitReview' ? Promise.resolve('submitted') : call())
    await world.post(subject, { github: lost })
    expect(await world.message(subject)).toMatchObject({ state: 'owed', errors: 1 })
    expect(await world.round(subject)).toBe(0)
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
  })

  it('AW73: a review is said once, and only after the lagging list of reviews shows it', async () => {
    await world.owe(subject)
    const lagMs = 20_000
    world.local.now += lagMs // the pull request itself is older
    const lagging = world.standIn.lag({ route: `GET ${REVIEWS}`, lagMs })
    await world.post(subject)
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.message(subject)).toMatchObject({ state: 'owed' })
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
    expect(await world.message(subject)).toMatchObject({ state: 'said' })
    expect(await world.round(subject)).toBe(1)
    expect(writesAsked().filter(({ route }) => route?.endsWith('/reviews'))).toHaveLength(1)
    expect(lagging.struck).toBeGreaterThan(1)
  })

  it('D15: a failed list leads to no write, although a create would succeed, and the outcome is unknown', async () => {
    await world.owe(subject)
    await world.raise(subject, { kind: 'summary', body: 'one' })
    for (const route of [`GET ${REVIEWS}`, 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments']) {
      world.standIn.fail({ route, kind: 'server_500', times: 2 })
    }
    const before = writesAsked().length
    await world.post(subject)
    expect(
      writesAsked()
        .slice(before)
        .filter(({ path }) => !path.endsWith('/access_tokens')),
    ).toEqual([])
    expect(await world.message(subject)).toMatchObject({ state: 'owed', errors: 1 })
    expect(await world.resource(subject, 'summary')).toMatchObject({ shownGeneration: 0, errors: 1 })
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
  })

  it('F5: a comment of a person that quotes our marker stays, and so does a review of a person', async () => {
    const marker = markerOf.summary(world.repository.id, subject.number, 1)
    world.standIn.comment('acme/parcels', subject.number, 'ana', `Thanks.\n${marker}`)
    await world.raise(subject, { kind: 'summary', body: 'one' })
    await world.owe(subject, { comments: [] })
    await world.post(subject)
    await rest()
    const bodies = world.seen(subject).issueComments.map(({ body, author }) => [author.login, body.split('\n')[0]])
    expect(bodies).toEqual([
      ['ana', 'Thanks.'],
      ['muster[bot]', 'one'],
    ])
  })
})

describe('the budget of an installation', () => {
  it('AW76: without budget a message waits, without an error and without a call that GitHub would refuse', async () => {
    const subjects = [subject]
    while (subjects.length < CONTENT_PER_MINUTE_MAX / 2 + 3) subjects.push(await world.subject())
    for (const each of subjects) await world.owe(each, { comments: [commentOn(1)] })
    for (const each of subjects) await world.post(each)
    const creations = writesAsked().filter(({ path }) => path.includes('/reviews'))
    expect(creations).toHaveLength(CONTENT_PER_MINUTE_MAX)
    expect(creations.every(({ status }) => status === 200)).toBe(true)
    const last = subjects.at(-1) ?? subject
    expect(await world.message(last)).toMatchObject({ state: 'owed', errors: 0 })
    expect(await world.dueAt(last)).toBeGreaterThan(world.local.now)
    for (const each of subjects) await rest(each)
    for (const each of subjects) expect(await world.message(each)).toMatchObject({ state: 'said', errors: 0 })
  }, 120_000)
})

describe('a limit that GitHub names', () => {
  it('R4: a named limit keeps every poster of the installation from creating until then, and counts no error', async () => {
    const other = await world.subject()
    await world.owe(subject)
    await world.owe(other)
    world.standIn.fail({ route: CREATE, kind: 'secondary_403', retryAfterSeconds: 90 })
    await world.post(subject)
    await world.post(other)
    expect(writesAsked().filter(({ path }) => path.includes('/reviews'))).toHaveLength(1)
    for (const each of [subject, other]) {
      expect(await world.message(each)).toMatchObject({ state: 'owed', errors: 0, dueAt: world.local.now + 90_000 })
    }
    await rest(subject)
    await rest(other)
    expect(await world.message(other)).toMatchObject({ state: 'said' })
  })
})

describe('the patience that GitHub asks for', () => {
  const labels = () => world.seen(subject).labels

  it('R4: a resource is not tried before its time, however often nudged; a newer generation is tried at once', async () => {
    world.standIn.fail({ route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels', kind: 'server_500' })
    await world.raise(subject, { kind: 'label', label: 'muster: checking' })
    await world.post(subject)
    expect(await world.resource(subject, 'label')).toMatchObject({ shownGeneration: 0, errors: 1 })
    const asked = world.standIn.requests().length
    for (const _ of [1, 2, 3]) await world.post(subject)
    expect(world.standIn.requests()).toHaveLength(asked)
    await world.raise(subject, { kind: 'label', label: 'muster: passed' })
    await world.post(subject)
    expect(labels()).toEqual(['muster: passed'])
  })

  it('R4: a limit that one poster met also stops writes beside content', async () => {
    await world.owe(subject)
    world.standIn.fail({ route: CREATE, kind: 'secondary_403', retryAfterSeconds: 90 })
    await world.post(subject)
    await world.raise(subject, { kind: 'label', label: 'muster: checking' })
    const before = writesAsked().length
    await world.post(subject)
    expect(writesAsked()).toHaveLength(before)
    expect(await world.resource(subject, 'label')).toMatchObject({ errors: 0, tryAt: world.local.now + 90_000 })
    await rest()
    expect(labels()).toEqual(['muster: checking'])
  })
})

describe('the end of a run without a verdict', () => {
  it.each(['closed', 'failed', 'cancelled'] as const)(
    'D3: a run that ended %s has a completed check run and no label',
    async (outcome) => {
      const { ledger, ending, now } = world.local
      await updateRun(ledger, subject.run, { state: 'running' }, { now })
      await world.raise(subject, { kind: 'label', label: 'muster: checking' })
      await world.raise(subject, inProgressCheckRun(subject.run, []))
      await world.post(subject)
      expect(world.seen(subject).labels).toEqual(['muster: checking'])
      const reason = { code: 'execution_failed', sentence: 'It ended.' } as const
      await beginEnding(ledger, subject.run, { outcome, reason, now })
      expect(await finishEnding(ending, subject.run.runId)).toBe(true)
      await rest()
      expect(world.seen(subject).labels).toEqual([])
      const { externalId } = checkRunIdentity(subject.run)
      const runs = world
        .seen(subject)
        .checkRuns.flatMap((head) => head.runs.filter((run) => run.externalId === externalId))
      expect(runs.map(({ status }) => status)).toEqual(['completed'])
    },
  )

  it('an owed review of a run that is over is withdrawn and not due any more', async () => {
    await world.owe(subject)
    const { ledger, now } = world.local
    const run = await readRun(ledger, subject.run.runId)
    if (run) await endRun(ledger, run, { outcome: 'failed', now })
    await rest()
    expect(reviewsSeen()).toEqual([])
    expect(await world.message(subject)).toMatchObject({ state: 'withdrawn' })
  })

  it('PL4: a halted message is neither leased nor written, and said after the halt', async () => {
    const { ledger } = world.local
    await world.owe(subject)
    await world.raise(subject, { kind: 'label', label: 'muster: passed' })
    await setHalt(ledger, { scope: 'fleet', by: 'ops', why: 'incident', since: 1 })
    const before = await world.local.items()
    await world.post(subject)
    expect(await world.local.items()).toEqual(before)
    await liftHalt(ledger, 'fleet')
    await rest()
    expect(reviewsSeen()).toEqual(['COMMENTED'])
  })
})

describe('independent pull requests', () => {
  it('LE8: ten posts that hang inside GitHub do not hold up another pull request', async () => {
    const hanging: Promise<void>[] = []
    for (let count = 0; count < 10; count += 1) {
      const each = await world.subject()
      await world.owe(each)
      const stall = stalling('createPendingReview', 'before')
      hanging.push(stall.reached)
      void world.post(each, stall.around)
    }
    await Promise.all(hanging)
    await world.owe(subject)
    await world.post(subject)
    expect(await world.message(subject)).toMatchObject({ state: 'said' })
  })
})
