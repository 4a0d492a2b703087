/** Reviews are refused where GitHub refuses them: code tested against a lenient stand-in fails in production. */
import type { Octokit } from '@octokit/core'
import { describe, expect, test } from 'vitest'
import { AT, makeRepository, REPOSITORY, refusalOf, withPullRequest } from './support.ts'

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join('')

/** Two hunks: lines 2–8 and 27–33; `gone.txt` is deleted. */
function repository() {
  return makeRepository(
    { 'a.txt': LINES, 'gone.txt': 'one\n' },
    { 'a.txt': LINES.replace('line 5\n', 'five\n').replace('line 30\n', 'thirty\n'), 'gone.txt': null },
  )
}

/** The client's type of an id. */
type Id = number | bigint

interface Comment {
  path: string
  body: string
  line?: number
  side?: string
  start_line?: number
  start_side?: string
}

function create(
  octokit: Octokit,
  number: number,
  review: { body?: string; event?: 'COMMENT' | 'REQUEST_CHANGES' | 'APPROVE'; comments?: Comment[] },
) {
  return octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
    ...AT,
    pull_number: number,
    ...review,
  })
}

function submit(octokit: Octokit, number: number, id: Id, event: 'COMMENT' | 'APPROVE' = 'COMMENT') {
  const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/events'
  return octokit.request(route, { ...AT, pull_number: number, review_id: Number(id), event })
}

function remove(octokit: Octokit, number: number, id: Id) {
  const route = 'DELETE /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}'
  return octokit.request(route, { ...AT, pull_number: number, review_id: Number(id) })
}

async function commentsOf(octokit: Octokit, number: number, id: Id) {
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments'
  return (await octokit.request(route, { ...AT, pull_number: number, review_id: Number(id) })).data
}

describe('two steps', () => {
  test('L5: a review without an event is pending, found again by its author, and submitted by its id', async () => {
    const { github, octokit, number } = await withPullRequest(repository())
    const comments = [{ path: 'a.txt', line: 5, body: 'why?' }]
    const { data: review } = await create(octokit, number, { body: 'text', comments })
    expect(review).toMatchObject({ state: 'PENDING', body: 'text', user: { login: 'muster-test[bot]', type: 'Bot' } })
    expect(review).not.toHaveProperty('submitted_at')
    const list = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
      ...AT,
      pull_number: number,
    })
    expect(list.data.map(({ id, state }) => [id, state])).toEqual([[review.id, 'PENDING']])
    const said = async () =>
      (await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...AT, pull_number: number })).data
        .review_comments
    expect(await said()).toBe(0)

    const { data: submitted } = await submit(octokit, number, review.id)
    expect(submitted).toMatchObject({ id: review.id, state: 'COMMENTED', submitted_at: expect.any(String) })
    expect(await said()).toBe(1)
    expect(await commentsOf(octokit, number, review.id)).toMatchObject([
      { path: 'a.txt', line: 5, side: 'RIGHT', body: 'why?' },
    ])
    const shown = github.pullRequest(REPOSITORY, number).reviews
    expect(shown).toMatchObject([{ pending: false, state: 'COMMENTED', comments: [{ line: 5 }] }])
  })

  test('a second pending review of the same author is refused, and the first stays unchanged', async () => {
    const { github, octokit, number } = await withPullRequest(repository())
    await create(octokit, number, { body: 'first' })
    for (const event of [undefined, 'COMMENT'] as const) {
      const refused = await refusalOf(create(octokit, number, { body: 'second', ...(event && { event }) }))
      expect(refused).toMatchObject({ status: 422, errors: ['User can only have one pending review per pull request'] })
    }
    expect(github.pullRequest(REPOSITORY, number).reviews).toMatchObject([{ body: 'first', pending: true }])
  })

  test('of many concurrent creations, exactly one becomes pending', async () => {
    const { github, octokit, number } = await withPullRequest(repository())
    const comments = [{ path: 'a.txt', line: 5, body: 'why?' }]
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => create(octokit, number, { comments })))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(github.pullRequest(REPOSITORY, number).reviews).toHaveLength(1)
  })

  test('IL2: a pending review can be deleted with its comments; a submitted review can not', async () => {
    const { github, octokit, number } = await withPullRequest(repository())
    const first = await create(octokit, number, { comments: [{ path: 'a.txt', line: 5, body: 'why?' }] })
    await remove(octokit, number, first.data.id)
    expect(github.pullRequest(REPOSITORY, number).reviews).toEqual([])
    expect(await refusalOf(submit(octokit, number, first.data.id))).toMatchObject({ status: 404 })

    const second = await create(octokit, number, { body: 'text' })
    await submit(octokit, number, second.data.id)
    expect(await refusalOf(remove(octokit, number, second.data.id))).toMatchObject({ status: 422 })
    expect(await refusalOf(submit(octokit, number, second.data.id))).toMatchObject({ status: 422 })
    expect(github.pullRequest(REPOSITORY, number).reviews).toHaveLength(1)
  })

  test('a comment needs a body or comments, a submission needs an event', async () => {
    const { octokit, number } = await withPullRequest(repository())
    expect(await refusalOf(create(octokit, number, { event: 'COMMENT' }))).toMatchObject({ status: 422 })
    const { data } = await create(octokit, number, {})
    expect(await refusalOf(submit(octokit, number, data.id))).toMatchObject({ status: 422 })
    const route = `POST /repos/acme/widgets/pulls/${number}/reviews/${data.id}/events`
    expect(await refusalOf(octokit.request(route))).toMatchObject({ status: 422 })
  })

  test('F7: changes can not be requested on the reviewer’s own pull request', async () => {
    const made = repository()
    const { github, octokit } = await withPullRequest(made)
    const number = await github.openPullRequest({
      repository: REPOSITORY,
      base: 'main',
      baseSha: made.commits[0] ?? '',
      head: 'bot',
      headSha: made.commits[1] ?? '',
      title: 'By the bot',
      body: null,
      author: { login: 'muster-test[bot]', type: 'Bot' },
    })
    const refused = await refusalOf(create(octokit, number, { body: 'no', event: 'REQUEST_CHANGES' }))
    expect(refused).toMatchObject({ status: 422, errors: ['Can not request changes on your own pull request'] })
    expect((await create(octokit, number, { body: 'no', event: 'COMMENT' })).status).toBe(200)
  })
})

describe('anchors', () => {
  const refused: [string, Comment][] = [
    ['A1: a line that the diff does not show', { path: 'a.txt', line: 20, body: 'x' }],
    ['a line beyond the file', { path: 'a.txt', line: 400, body: 'x' }],
    ['a file that is not in the diff', { path: 'b.txt', line: 1, body: 'x' }],
    ['a path in another spelling', { path: './a.txt', line: 5, body: 'x' }],
    ['A7: a deleted file’s right side', { path: 'gone.txt', line: 1, body: 'x' }],
    ['A3: a range that starts where it ends', { path: 'a.txt', start_line: 5, line: 5, body: 'x' }],
    ['a range that starts below its end', { path: 'a.txt', start_line: 6, line: 5, body: 'x' }],
    ['A2: a range over two hunks', { path: 'a.txt', start_line: 5, line: 30, body: 'x' }],
    ['a range from outside the hunk', { path: 'a.txt', start_line: 1, line: 5, body: 'x' }],
    ['a comment without a line', { path: 'a.txt', body: 'x' }],
    ['an empty comment', { path: 'a.txt', line: 5, body: '' }],
  ]
  test.each(refused)('%s refuses the whole review', async (_, bad) => {
    const { github, octokit, number } = await withPullRequest(repository())
    const comments = [{ path: 'a.txt', line: 5, body: 'good' }, bad]
    expect(await refusalOf(create(octokit, number, { body: 'text', comments }))).toMatchObject({ status: 422 })
    expect(github.pullRequest(REPOSITORY, number).reviews).toEqual([])
  })

  const taken: [string, Comment][] = [
    ['an added line', { path: 'a.txt', line: 5, body: 'x' }],
    ['a line of context', { path: 'a.txt', line: 8, body: 'x' }],
    ['the line before the change', { path: 'a.txt', line: 5, side: 'LEFT', body: 'x' }],
    ['a deleted file’s left side', { path: 'gone.txt', line: 1, side: 'LEFT', body: 'x' }],
    ['a range inside a hunk', { path: 'a.txt', start_line: 3, line: 5, body: 'x' }],
  ]
  test.each(taken)('%s is taken', async (_, comment) => {
    const { github, octokit, number } = await withPullRequest(repository())
    await create(octokit, number, { event: 'COMMENT', comments: [comment] })
    const [shown] = github.pullRequest(REPOSITORY, number).reviews[0]?.comments ?? []
    expect(shown).toMatchObject({ path: comment.path, line: comment.line, startLine: comment.start_line ?? null })
    expect(shown?.diffHunk).toMatch(/^@@ /)
  })

  test('a comment on an older head is outdated, and keeps only its original position', async () => {
    const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }, { 'a.txt': 'c\n' })
    const [first = '', second = '', third = ''] = made.commits
    const { github, octokit, number } = await withPullRequest({ ...made, commits: [first, second] })
    const comments = [{ path: 'a.txt', line: 1, body: 'x' }]
    const { data: review } = await create(octokit, number, { event: 'COMMENT', comments })
    await github.pushHead(REPOSITORY, number, third)
    expect(await commentsOf(octokit, number, review.id)).toMatchObject([
      { line: null, position: null, original_line: 1, commit_id: second },
    ])
  })
})

test('a body of 65,536 characters is accepted, one more is refused, whatever the bytes', async () => {
  const { octokit, number } = await withPullRequest(repository())
  const most = '😊'.repeat(65_536)
  expect((await create(octokit, number, { body: most, event: 'COMMENT' })).data.body).toBe(most)
  for (const review of [{ body: `${most}x` }, { comments: [{ path: 'a.txt', line: 5, body: `${most}x` }] }]) {
    expect(await refusalOf(create(octokit, number, { ...review, event: 'COMMENT' }))).toMatchObject({ status: 422 })
  }
})
