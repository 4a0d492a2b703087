/** The pages for people: a list of pull requests, and each pull request with all of its texts. */
import type { Answer, Call, Route } from '../http.ts'
import { repositoryId } from '../identity.ts'
import { pullKey } from '../records.ts'
import { snapshotOf } from '../snapshot.ts'
import { TOP } from '../store/store.ts'
import type { World } from '../world.ts'
import { listPage, notFoundPage } from './list.ts'
import { pullRequestPage } from './pull.ts'

/** A page loads nothing, and runs no text from a pull request. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

export function pageRoutes(world: World): Route[] {
  return [
    {
      method: 'GET',
      pattern: '/',
      handle: () => {
        const repositories = world.store.list('repository', TOP)
        return html(200, listPage(repositories.map((each) => [each, world.store.list('pull', each.id)])))
      },
    },
    { method: 'GET', pattern: '/:owner/:repo/pull/:number', handle: (call) => pullRequest(world, call) },
  ]
}

async function pullRequest(world: World, call: Call): Promise<Answer> {
  const { owner = '', repo = '', number } = call.params
  const repository = world.store.get('repository', repositoryId(owner, repo))
  const pull = repository && world.store.get('pull', pullKey(repository.id, Number(number)))
  if (repository === undefined || pull === undefined) return html(404, notFoundPage())
  const comparison = await world.compare(repository, pull.base.sha, pull.head.sha)
  const changes = comparison?.list.changes ?? []
  const patches = await world.patchLines(repository, pull, pull.head.sha, shownPaths(changes.map(({ path }) => path)))
  return html(200, pullRequestPage(snapshotOf(world.store, repository, pull), changes, patches))
}

/** The number of diffs on the page; further files appear by name. */
const FILES_SHOWN_MAX = 100

function shownPaths(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.slice(0, FILES_SHOWN_MAX))
}

function html(status: number, page: string): Answer {
  return {
    status,
    bytes: Buffer.from(page),
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': CONTENT_SECURITY_POLICY, 'x-content-type-options': 'nosniff' },
  }
}
