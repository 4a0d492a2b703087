/** Lagging reads by route: the client's view, and the rules for writes in spite of it. */
import { expect, test } from 'vitest'
import { LAG_MS_MAX } from '../../../../infra/local/github/store/history.ts'
import { AT, clientOf, makeRepository, openPullRequest, startedGitHub } from './support.ts'

const REVIEWS = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
const COMMENTS = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'

async function prepared(lagMs?: number) {
  const clock = { ms: Date.UTC(2026, 10, 29) }
  const github = await startedGitHub({ now: () => clock.ms, ...(lagMs === undefined ? {} : { lagMs }) })
  await openPullRequest(github, makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }))
  clock.ms += 60_000
  const octokit = clientOf(github)
  const say = async (body: string) => {
    const review = octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
      ...AT,
      pull_number: 1,
      body,
    })
    const comment = octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...AT,
      issue_number: 1,
      body,
    })
    return (await Promise.allSettled([review, comment])).map(({ status }) => status)
  }
  const reviews = async () => (await octokit.request(REVIEWS, { ...AT, pull_number: 1 })).data.length
  const comments = async () => (await octokit.request(COMMENTS, { ...AT, issue_number: 1 })).data.length
  return { github, clock, say, reviews, comments }
}

test('AW73: a route lags alone, also behind earlier writes', async () => {
  const { github, clock, say, reviews, comments } = await prepared()
  await say('text')
  const lagging = github.lag({ route: REVIEWS, lagMs: 3_000 })
  expect([await reviews(), await comments()]).toEqual([0, 1])
  // The current state judges a write, not the shown state.
  expect(await say('again')).toEqual(['rejected', 'fulfilled'])
  clock.ms += 2_999
  expect([await reviews(), await comments()]).toEqual([0, 2])
  clock.ms += 1
  expect(await reviews()).toBe(1)
  expect(lagging.struck).toBe(3)
})

test('a lag holds for the ordered number of reads, after the reads that pass, until its end or the healing of all', async () => {
  const { github, say, reviews } = await prepared()
  await say('text')
  github.lag({ route: REVIEWS, lagMs: 3_000, after: 1, times: 2 })
  expect([await reviews(), await reviews(), await reviews(), await reviews()]).toEqual([1, 0, 0, 1])
  const lagging = github.lag({ route: '*', lagMs: 3_000 })
  expect(await reviews()).toBe(0)
  lagging.end()
  expect(await reviews()).toBe(1)
  github.lag({ route: REVIEWS, lagMs: 3_000 })
  github.heal()
  expect(await reviews()).toBe(1)
})

test('where all reads lag, a route may lag otherwise, or not at all', async () => {
  const { github, clock, say, reviews, comments } = await prepared(2_000)
  github.lag({ route: REVIEWS, lagMs: 0 })
  await say('text')
  expect([await reviews(), await comments()]).toEqual([1, 0])
  clock.ms += 2_000
  expect([await reviews(), await comments()]).toEqual([1, 1])
})

test('an impossible lag is refused', async () => {
  const { github } = await prepared()
  const order = (route: string, lagMs = 1) => github.lag({ route, lagMs })
  expect(() => order('GET /repos/{owner}/{repo}/secrets')).toThrow(/^unknown_route: /)
  expect(() => order('POST /repos/{owner}/{repo}/check-runs')).toThrow(/^unknown_route: /)
  expect(() => order(REVIEWS, LAG_MS_MAX + 1)).toThrow(/^lag_too_long: /)
  await expect(startedGitHub({ lagMs: LAG_MS_MAX + 1 })).rejects.toThrow(/^lag_too_long: /)
})
