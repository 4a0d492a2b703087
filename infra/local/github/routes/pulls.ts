/** Routes that read pull requests: themselves, their files, their commits. */
import { LISTED_FILES_MAX } from '../git/diff.ts'
import { type Answer, accepts, type Call, notFound, ok, Refusal, type Route } from '../http.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import type { PullRequest, Repository } from '../records.ts'
import { pullShape, pullSimpleShape } from '../shapes/pull.ts'
import { commitShape } from '../shapes/repository.ts'
import { PULL_COMMITS_MAX, type World } from '../world.ts'
import { filesOf } from './repository.ts'

/** "20,000 lines … 1 MB of raw diff data … 300 files": docs.github.com, limits for viewing content and diffs. Beyond: 406. */
const DIFF_LINES_MAX = 20_000
const DIFF_BYTES_MAX = 1_024 * 1_024
const DIFF_FILES_MAX = 300

export function pullRoutes(world: World): Route[] {
  const route = (
    pattern: string,
    handle: (call: Call, repository: Repository, pull: PullRequest) => Promise<Answer> | Answer,
  ): Route => ({
    method: 'GET',
    pattern: `/repos/:owner/:repo/pulls/:number${pattern}`,
    handle: (call) => {
      const repository = world.repositoryFor(call)
      return handle(call, repository, world.pullFor(call, repository))
    },
  })
  return [
    { method: 'GET', pattern: '/repos/:owner/:repo/pulls', handle: (call) => list(world, call) },
    route('', async (call, repository, pull) => {
      if (accepts(call, 'diff')) return diff(world, repository, pull)
      const counts = await world.countsOf(repository, pull, world.readerFor(call))
      return ok(pullShape(call.url.origin, repository, pull, counts))
    }),
    route('/files', async (call, repository, pull) => {
      const comparison = await world.compare(repository, pull.base.sha, pull.head.sha)
      if (comparison === null) throw notFound()
      const page = pageOf(call)
      const total = Math.min(comparison.list.fileCount, LISTED_FILES_MAX)
      const files = await filesOf(world, call, repository, comparison, page.size, page.from)
      return ok(files, linkHeader(call, page, total))
    }),
    route('/commits', async (call, repository, pull) => {
      const git = await world.gitOf(repository)
      const commits = await git.commits(pull.base.sha, pull.head.sha, PULL_COMMITS_MAX)
      const page = pageOf(call)
      const shown = slice(commits, page).map((commit) => commitShape(call.url.origin, repository, commit))
      return ok(shown, linkHeader(call, page, commits.length))
    }),
  ]
}

/** Everything as one text, with the `diff` media type. */
async function diff(world: World, repository: Repository, pull: PullRequest): Promise<Answer> {
  const comparison = await world.compare(repository, pull.base.sha, pull.head.sha)
  if (comparison === null) throw notFound()
  if (comparison.list.fileCount > DIFF_FILES_MAX) {
    throw tooLarge(
      `number of files (${DIFF_FILES_MAX}). Consider using 'List pull requests files' API or locally cloning the repository instead.`,
    )
  }
  const git = await world.gitOf(repository)
  const whole = await git.wholeDiff(comparison.mergeBase, comparison.head, DIFF_LINES_MAX, DIFF_BYTES_MAX)
  if (whole.bytes !== null) {
    return { status: 200, bytes: whole.bytes, contentType: 'application/vnd.github.diff; charset=utf-8' }
  }
  throw tooLarge(whole.exceeded === 'lines' ? `number of lines (${DIFF_LINES_MAX})` : `size (${DIFF_BYTES_MAX} bytes)`)
}

function tooLarge(what: string): Refusal {
  const errors = [{ resource: 'PullRequest', field: 'diff', code: 'too_large' }]
  return new Refusal(406, `Sorry, the diff exceeded the maximum ${what}`, errors)
}

/** Newest first, open ones unless asked otherwise; `head` is `owner:branch`, as GitHub wants it. */
function list(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const query = call.url.searchParams
  const state = query.get('state') ?? 'open'
  if (!['open', 'closed', 'all'].includes(state)) {
    throw new Refusal(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'invalid', field: 'state' }])
  }
  const base = query.get('base')
  const head = query.get('head')
  const pulls = world
    .readerFor(call)
    .list('pull', repository.id)
    .filter((pull) => state === 'all' || pull.state === state)
    .filter((pull) => base === null || pull.base.ref === base)
    .filter((pull) => head === null || `${repository.owner}:${pull.head.ref}` === head)
    .sort((one, other) => other.number - one.number)
  const page = pageOf(call)
  const shown = slice(pulls, page).map((pull) => pullSimpleShape(call.url.origin, repository, pull))
  return ok(shown, linkHeader(call, page, pulls.length))
}
