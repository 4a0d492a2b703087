/** Routes that read a pull request and its files. */
import { LISTED_FILES_MAX } from '../git/git.ts'
import { type Answer, type Call, notFound, ok, type Route } from '../http.ts'
import { linkHeader, pageOf } from '../pagination.ts'
import { pullJson } from '../representations/pull.ts'
import type { World } from '../world.ts'
import { filesOf } from './repository.ts'

export function pullRoutes(world: World): Route[] {
  const base = '/repos/:owner/:repo/pulls/:number'
  return [
    { method: 'GET', pattern: base, handle: (call) => pull(world, call) },
    { method: 'GET', pattern: `${base}/files`, handle: (call) => files(world, call) },
  ]
}

async function pull(world: World, call: Call): Promise<Answer> {
  const repository = world.repositoryFor(call)
  const found = world.pullFor(call, repository)
  const counts = await world.countsOf(repository, found, world.readerFor(call))
  return ok(pullJson(call.url.origin, repository, found, counts))
}

async function files(world: World, call: Call): Promise<Answer> {
  const repository = world.repositoryFor(call)
  const { base, head } = world.pullFor(call, repository)
  const comparison = await world.compare(repository, base.sha, head.sha)
  if (comparison === null) throw notFound()
  const page = pageOf(call)
  const total = Math.min(comparison.list.fileCount, LISTED_FILES_MAX)
  const shown = await filesOf(world, call, repository, comparison, page.size, page.from)
  return ok(shown, linkHeader(call, page, total))
}
