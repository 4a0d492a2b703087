import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GITHUB_BODY_BYTES_MAX } from '../../../shared/base/limits.ts'
import { byteLength } from '../../../shared/base/text.ts'
import { sayReview } from '../../../shared/github/say-review.ts'
import { type InlineComment, markerOf, type ReviewMessage } from '../../../shared/publishing/github-payloads.ts'
import { openWorld, type TestWorld } from './world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await openWorld()
})
afterEach(() => world.close())

const go = async () => 'go' as const
const CREATE = /^POST .*\/reviews$/
const SUBMIT = /^POST .*\/events$/

function message(changes: Partial<ReviewMessage> = {}, run = 'run1'): ReviewMessage {
  const marker = markerOf.review(run, 'plan1')
  return {
    kind: 'review',
    marker,
    head: world.example.head.sha,
    event: 'COMMENT',
    body: `**Muster.** ${run}\n\n${marker}`,
    comments: [comment(1)],
    ...changes,
  }
}

function comment(line: number, path = 'src/archive.js'): InlineComment {
  return { path, side: 'RIGHT', line, body: `About line ${line}.` }
}

function say(what: ReviewMessage, checks: () => Promise<'go' | 'stop'> = go) {
  return sayReview(world.github, world.repo, world.number, what, { checks })
}

function reviews() {
  return world.standIn.pullRequest('acme/parcels', world.number).reviews
}

describe('a review', () => {
  it('a review is created pending, submitted by id, and read back', async () => {
    const pending: number[] = []
    const said = await sayReview(world.github, world.repo, world.number, message(), {
      checks: go,
      onPending: async (id) => void pending.push(id),
    })
    expect(said).toEqual({ state: 'said', reviewId: pending[0], repeated: 0 })
    expect(reviews()).toMatchObject([{ state: 'COMMENTED', comments: [{ path: 'src/archive.js', line: 1 }] }])
    const { rows } = await world.github.reviewComments(world.repo, world.number, pending[0] ?? 0)
    expect(rows).toMatchObject([{ path: 'src/archive.js', line: 1, body: 'About line 1.' }])
  })

  it('LE5: a second call for a said review writes nothing', async () => {
    await say(message())
    const before = world.wire.asked.length
    expect(await say(message())).toMatchObject({ state: 'said', repeated: 0 })
    expect(world.wire.asked.slice(before).every((name) => name.startsWith('GET '))).toBe(true)
    expect(reviews()).toHaveLength(1)
  })

  it('AW70: a create with a lost answer is found by its marker and submitted', async () => {
    world.wire.break(CREATE, { kind: 'answer_lost' })
    expect(await say(message())).toMatchObject({ state: 'said' })
    expect(reviews()).toHaveLength(1)
  })

  it('LE5: a submit with a lost answer is found said', async () => {
    world.wire.break(SUBMIT, { kind: 'answer_lost' })
    expect(await say(message())).toMatchObject({ state: 'said' })
    expect(reviews()).toMatchObject([{ state: 'COMMENTED' }])
  })

  it('L5: our pending review with this payload is adopted after a crash', async () => {
    world.wire.break(SUBMIT, { kind: 'answered', status: 502, body: {} })
    expect(await say(message())).toMatchObject({ state: 'unknown' })
    const [left] = reviews()
    expect(left?.pending).toBe(true)
    expect(world.wire.asked.filter((name) => SUBMIT.test(name))).toHaveLength(1)
    expect(await say(message())).toMatchObject({ state: 'said', reviewId: left?.id })
    expect(reviews()).toHaveLength(1)
  })

  it('LE1: our pending review with another payload is deleted, not adopted', async () => {
    const old = message({ body: `**Muster.** older\n\n${markerOf.review('run1', 'plan1')}` })
    await world.github.createPendingReview(world.repo, world.number, {
      commitId: old.head,
      body: old.body,
      comments: [],
    })
    expect(await say(message())).toMatchObject({ state: 'said' })
    expect(reviews().map(({ body }) => body.includes('older'))).toEqual([false])
  })

  it('LE14: a submit with 200 that GitHub does not show is not said', async () => {
    world.wire.break(SUBMIT, { kind: 'answered', status: 200, body: { id: 1 } })
    const said = await say(message())
    expect(said).toMatchObject({ state: 'unknown', because: { code: 'not_shown' } })
    expect(reviews()).toMatchObject([{ pending: true }])
  })

  it('AW73: a lagging list without our pending review leads to no second review', async () => {
    const list = /^GET .*\/reviews$/
    world.wire.break(CREATE, {
      kind: 'meanwhile',
      work: async () => world.wire.break(list, { kind: 'answered', status: 200, body: [] }),
    })
    expect(await say(message())).toMatchObject({ state: 'said' })
    expect(world.wire.asked.filter((name) => CREATE.test(name))).toHaveLength(1)
  })

  it('AW73: a submit refused while the list lags is unknown, and no second review is made', async () => {
    const list = /^GET .*\/reviews$/
    world.wire.break(SUBMIT, { kind: 'answered', status: 422, body: { message: 'not pending' } })
    world.wire.break(CREATE, {
      kind: 'meanwhile',
      work: async () => world.wire.break(list, { kind: 'answered', status: 200, body: [] }, 2),
    })
    expect(await say(message())).toMatchObject({ state: 'unknown', because: { code: 'not_shown' } })
    expect(world.wire.asked.filter((name) => CREATE.test(name))).toHaveLength(1)
  })

  it('IL14: our pending review is made anew after another poster deleted it', async () => {
    world.wire.break(SUBMIT, {
      kind: 'meanwhile',
      work: async () => {
        await world.github.deletePendingReview(world.repo, world.number, reviews()[0]?.id ?? 0)
      },
    })
    expect(await say(message())).toMatchObject({ state: 'said' })
    expect(reviews()).toMatchObject([{ state: 'COMMENTED' }])
  })

  it('D15: a failed list of reviews leads to no write', async () => {
    world.wire.break(/^GET .*\/reviews$/, { kind: 'answered', status: 500, body: {} }, 2)
    expect(await say(message())).toMatchObject({ state: 'unknown', because: { code: 'github_unreachable' } })
    expect(world.wire.asked.filter((name) => /^(POST|PUT|DELETE) .*reviews/.test(name))).toEqual([])
  })

  it('AW71: a review of a person that quotes our marker is not ours', async () => {
    const { marker } = message()
    world.wire.break(/^GET .*\/reviews$/, {
      kind: 'answered',
      status: 200,
      body: [{ id: 1, state: 'COMMENTED', body: marker, user: { id: 3, login: 'eve' }, commit_id: '1' }],
    })
    expect(await say(message())).toMatchObject({ state: 'said' })
    expect(reviews()).toHaveLength(1)
  })
})

describe('a stop before a write', () => {
  it('IL2: a stop before the submit deletes the pending review', async () => {
    const answers = ['go', 'stop', 'stop'] as const
    let at = 0
    const said = await say(message(), async () => answers[at++] ?? 'stop')
    expect(said).toEqual({ state: 'stopped' })
    expect(reviews()).toEqual([])
  })

  it('IL2: a stop after a submit of another poster leaves the review said and counted', async () => {
    const answers = ['go', 'stop'] as const
    let at = 0
    world.wire.break(/^DELETE .*\/reviews\/\d+$/, {
      kind: 'meanwhile',
      work: async () => {
        const [pending] = reviews()
        await world.github.submitReview(world.repo, world.number, pending?.id ?? 0, 'COMMENT', pending?.body ?? '')
      },
    })
    const said = await say(message(), async () => answers[at++] ?? 'stop')
    expect(said).toMatchObject({ state: 'said' })
    expect(reviews()).toMatchObject([{ state: 'COMMENTED' }])
  })

  it('IL2: a stop after a submit of another poster is unknown, never stopped, while the list lags', async () => {
    const pendingId = await pendingOfOurs()
    const [pending] = reviews()
    await world.github.submitReview(world.repo, world.number, pendingId, 'COMMENT', pending?.body ?? '')
    world.wire.break(/^GET .*\/reviews$/, { kind: 'answered', status: 200, body: [] }, 9)
    const options = { checks: async () => 'stop' as const, pendingId }
    const said = await sayReview(world.github, world.repo, world.number, message(), options)
    expect(said).toMatchObject({ state: 'unknown', because: { code: 'not_shown' } })
  })

  async function pendingOfOurs(): Promise<number> {
    world.wire.break(SUBMIT, { kind: 'answered', status: 502, body: {} })
    await say(message())
    return reviews()[0]?.id ?? 0
  }

  it('IL14: a stop leaves the pending review of another run alone', async () => {
    const { example, github, repo, number } = world
    await github.createPendingReview(repo, number, { commitId: example.head.sha, body: 'run2', comments: [] })
    expect(await say(message(), async () => 'stop')).toEqual({ state: 'stopped' })
    expect(reviews()).toMatchObject([{ body: 'run2', pending: true }])
  })
})

describe('a refusal of GitHub', () => {
  /** Comments on the first lines of a file; the comments at positions `bad` stand on a line outside of the diff. */
  const commentsWithBad = (count: number, ...bad: number[]) =>
    Array.from({ length: count }, (_, at) => comment(bad.includes(at) ? 90_000 + at : at + 1))
  const calls = () => world.wire.asked.filter((name) => /^(POST|DELETE) .*\/reviews/.test(name))

  it('AW79: a refused sixth of eight comments leaves seven inline and stands in full in the body, in at most 7 calls', async () => {
    const comments = commentsWithBad(8, 5)
    expect(await say(message({ comments }))).toMatchObject({ state: 'said', repeated: 0 })
    const [review, ...others] = reviews()
    expect(others).toEqual([])
    expect(review?.comments.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 7, 8])
    expect(review?.body).toContain('GitHub did not accept 1 of the 8 inline comments')
    expect(review?.body).toContain('`src/archive.js`, line 90005\n\nAbout line 90005.')
    expect(review?.body.split('\n')).toContain(message().marker)
    expect(calls().length).toBeLessThanOrEqual(7)
  })

  it('AW79: a lagging list during the bisection leads to no second review', async () => {
    const stale = { id: 1, state: 'PENDING', body: 'x', user: { id: 1, login: 'x' }, commit_id: '1' }
    world.wire.break(/^GET .*\/reviews$/, { kind: 'answered', status: 200, body: [stale] }, 5)
    expect(await say(message({ comments: commentsWithBad(8, 5) }))).toMatchObject({ state: 'said', repeated: 0 })
    expect(reviews()).toHaveLength(1)
  })

  it('AW79: an unanswered try leaves no second review behind', async () => {
    world.wire.break(CREATE, { kind: 'meanwhile', work: async () => {} }, 1)
    world.wire.break(CREATE, { kind: 'answer_lost' }, 1)
    const comments = commentsWithBad(8, 5)
    expect(await say(message({ comments }))).toMatchObject({ state: 'unknown' })
    expect(await say(message({ comments }))).toMatchObject({ state: 'said', repeated: 0 })
    expect(reviews().map(({ pending }) => pending)).toEqual([false])
    expect(reviews()[0]?.comments).toHaveLength(7)
  })

  it('AW79: several refused comments stand in full in the body, and accepted comments stay inline', async () => {
    const comments = commentsWithBad(8, 5, 6)
    expect(await say(message({ comments }))).toMatchObject({ state: 'said' })
    const [review] = reviews()
    expect(review?.comments.map(({ line }) => line)).toEqual([1, 2, 3, 4])
    for (const { body } of comments.slice(4)) expect(review?.body).toContain(body)
  })

  it('A4, A11: refused comments in both halves put every comment in full into the body', async () => {
    const comments = commentsWithBad(3, 0, 2)
    expect(await say(message({ comments }))).toMatchObject({ state: 'said' })
    const [review] = reviews()
    expect(review?.comments).toEqual([])
    for (const { body, path, line } of comments) {
      expect(review?.body).toContain(body)
      expect(review?.body).toContain(`\`${path}\`, line ${line}`)
    }
    expect(await say(message({ comments }))).toMatchObject({ state: 'said', repeated: 0 })
    expect(reviews()).toHaveLength(1)
  })

  it('A4, A11: comments that do not fit the body are counted, and the markers stay', async () => {
    const comments = Array.from({ length: 60 }, () => ({ ...comment(99_999), body: 'é'.repeat(2_000) }))
    expect(await say(message({ comments }))).toMatchObject({ state: 'said' })
    const body = reviews()[0]?.body ?? ''
    expect(byteLength(body)).toBeLessThanOrEqual(GITHUB_BODY_BYTES_MAX)
    expect(body).toMatch(/\d+ more did not fit here and stand in the summary/)
    expect(body.split('\n')).toContain(message().marker)
  })

  it('A13: a commit outside of the pull request is dead, with GitHub’s sentence', async () => {
    const work = say(message({ head: 'd'.repeat(40) }))
    await expect(work).rejects.toMatchObject({ name: 'dead', code: 'github_refused' })
    expect(world.wire.asked.filter((name) => CREATE.test(name))).toHaveLength(2)
  })

  it('AW80: a comment on one line has no start line, a comment on several has one', async () => {
    const comments = [
      { ...comment(2), startLine: 2 },
      { ...comment(3), startLine: 1 },
    ]
    expect(await say(message({ comments }))).toMatchObject({ state: 'said' })
    expect(reviews()[0]?.comments).toMatchObject([{ startLine: null }, { startLine: 1 }])
  })
})

describe('our own pull request', () => {
  it('F7: a request for changes becomes a comment', async () => {
    const own = await openWorld({ author: 'muster[bot]' })
    try {
      const said = await sayReview(own.github, own.repo, own.number, message({ event: 'REQUEST_CHANGES' }), {
        checks: go,
      })
      expect(said).toMatchObject({ state: 'said' })
      expect(own.standIn.pullRequest('acme/parcels', own.number).reviews).toMatchObject([{ state: 'COMMENTED' }])
    } finally {
      await own.close()
    }
  })
})

it('AW73: a list that lags behind our writes leads to no second review, however often the review is said', async () => {
  const lagging = await openWorld({ lagMs: 1_500 })
  try {
    const visible = () => lagging.github.pullRequest(lagging.repo, lagging.number).then(({ number }) => number)
    await expect.poll(() => visible().catch(() => 0), { timeout: 15_000 }).toBe(lagging.number)
    let pendingId: number | undefined
    const sayAgain = async () => {
      const said = await sayReview(lagging.github, lagging.repo, lagging.number, message(), {
        checks: go,
        onPending: async (id) => {
          pendingId = id
        },
        ...(pendingId === undefined ? {} : { pendingId }),
      })
      return said.state
    }
    await expect.poll(sayAgain, { timeout: 15_000, interval: 200 }).toBe('said')
    expect(lagging.wire.asked.filter((name) => CREATE.test(name))).toHaveLength(1)
    const { reviews: all } = lagging.standIn.pullRequest('acme/parcels', lagging.number)
    expect(all.map(({ state }) => state)).toEqual(['COMMENTED'])
  } finally {
    await lagging.close()
  }
})
