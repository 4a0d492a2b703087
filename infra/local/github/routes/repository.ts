/** Routes that read a repository: itself, its files, its git objects, its history. */
import type { Commit, TreeEntry } from '../git/git.ts'
import { type Answer, accepts, type Call, notFound, ok, Refusal, type Route } from '../http.ts'
import { nodeId } from '../identity.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import type { Repository } from '../records.ts'
import { userShape } from '../shapes/account.ts'
import {
  base64Lines,
  commitShape,
  contentShape,
  diffEntryShape,
  fullRepositoryShape,
  gitCommitShape,
  htmlUrl,
  repositoryUrl,
} from '../shapes/repository.ts'
import { type Listing, PULL_COMMITS_MAX, type World } from '../world.ts'

/** Between 1 and 100 MB `contents` gives no content but the raw media type, above that nothing: docs.github.com, REST, contents. */
const CONTENT_BYTES_MAX = 1_024 * 1_024
const RAW_BYTES_MAX = 100 * 1_024 * 1_024

/** "The limit for the tree array is 100,000 entries": docs.github.com, REST, git trees. A folder in `contents` shows 1,000. */
const TREE_ENTRIES_MAX = 100_000
const FOLDER_ENTRIES_MAX = 1_000

/** A comparison or a commit shows at most 300 files a page: docs.github.com, REST, compare two commits. */
const COMPARED_FILES_MAX = 300

/** The tree of no files, which git knows without storing it: what a first commit is compared with. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

export function repositoryRoutes(world: World): Route[] {
  const route = (pattern: string, handle: (call: Call, repository: Repository) => Promise<Answer> | Answer): Route => ({
    method: 'GET',
    pattern: `/repos/:owner/:repo${pattern}`,
    handle: (call) => handle(call, world.repositoryFor(call)),
  })
  return [
    route('', (call, repository) => ok(fullRepositoryShape(call.url.origin, repository))),
    route('/contents/*path', (call, repository) => contents(world, call, repository)),
    route('/contents', (call, repository) => contents(world, call, repository)),
    route('/git/blobs/:sha', (call, repository) => blob(world, call, repository)),
    route('/git/trees/:sha', (call, repository) => tree(world, call, repository)),
    route('/git/commits/:sha', async (call, repository) => {
      const commit = await (await world.gitOf(repository)).commit(sha(call))
      if (commit === null) throw notFound()
      return ok(gitCommitShape(call.url.origin, repository, commit))
    }),
    route('/compare/*basehead', (call, repository) => compare(world, call, repository)),
    route('/collaborators/:login/permission', (call, repository) => {
      const { login = '' } = call.params
      const permission = world.permissionOf(repository, login)
      // The old four levels, and beside them the role: maintain counts as write, triage as read.
      const level = permission === 'maintain' ? 'write' : permission === 'triage' ? 'read' : permission
      const user = { ...userShape(call.url.origin, { login, type: 'User' }), role_name: permission }
      return ok({ permission: level, role_name: permission, user })
    }),
  ]
}

/** One commit with its files. It comes after the routes of check runs, whose addresses it would swallow. */
export function commitRoute(world: World): Route {
  return {
    method: 'GET',
    pattern: '/repos/:owner/:repo/commits/*ref',
    handle: async (call) => {
      const repository = world.repositoryFor(call)
      const git = await world.gitOf(repository)
      const commitSha = await world.commitOf(repository, call.params.ref ?? '')
      const commit = commitSha === null ? null : await git.commit(commitSha)
      if (commit === null) throw new Refusal(422, `No commit found for SHA: ${call.params.ref}`)
      const parent = commit.parents[0]
      const comparison =
        parent === undefined
          ? await world.compareTrees(repository, EMPTY_TREE, commit.sha)
          : await world.compareTrees(repository, parent, commit.sha)
      const { additions, deletions } = comparison.list
      return ok({
        ...commitShape(call.url.origin, repository, commit),
        stats: { additions, deletions, total: additions + deletions },
        files: await filesOf(world, call, repository, comparison, COMPARED_FILES_MAX),
      })
    },
  }
}

/** Some of a comparison's files, with their patches, as lists of files show them. */
export async function filesOf(
  world: World,
  call: Call,
  repository: Repository,
  listing: Listing,
  countMax: number,
  from = 0,
) {
  const { from: base, head, list } = listing
  const changes = list.changes.slice(from, from + countMax)
  const patches = await (await world.gitOf(repository)).patches(base, head, changes)
  return changes.map((change) => diffEntryShape(call.url.origin, repository, head, change, patches.get(change)))
}

async function contents(world: World, call: Call, repository: Repository): Promise<Answer> {
  const path = (call.params.path ?? '').replace(/\/$/, '')
  const ref = call.url.searchParams.get('ref') ?? repository.defaultBranch
  const git = await world.gitOf(repository)
  const commitSha = await world.commitOf(repository, ref)
  if (commitSha === null) throw new Refusal(404, `No commit found for the ref ${ref}`)
  const entry = await git.entry(commitSha, path)
  if (entry === null) throw notFound()
  const shown = contentShape(call.url.origin, repository, ref, entry)
  if (entry.type === 'tree') return ok(await folder(world, call, repository, ref, entry))
  if (entry.type === 'commit') return ok({ ...shown, type: 'submodule', submodule_git_url: null })
  const size = entry.size ?? 0
  if (size > RAW_BYTES_MAX) throw new Refusal(403, 'This API returns blobs up to 100 MB in size.')
  const raw = accepts(call, 'raw')
  const object = await git.object(entry.sha, raw ? RAW_BYTES_MAX : CONTENT_BYTES_MAX)
  if (raw) return rawAnswer(object?.bytes ?? null)
  const bytes = object?.bytes
  if (bytes == null) return ok({ ...shown, type: 'file', encoding: 'none', content: '' })
  if (entry.mode === '120000') return ok({ ...shown, type: 'symlink', target: bytes.toString('utf8') })
  return ok({ ...shown, type: 'file', encoding: 'base64', content: base64Lines(bytes) })
}

async function folder(world: World, call: Call, repository: Repository, ref: string, entry: TreeEntry) {
  const shown: unknown[] = []
  for await (const child of (await world.gitOf(repository)).tree(entry.sha, false)) {
    if (shown.length === FOLDER_ENTRIES_MAX) break
    const path = entry.path === '' ? child.path : `${entry.path}/${child.path}`
    const type = child.mode === '120000' ? 'symlink' : { blob: 'file', tree: 'dir', commit: 'submodule' }[child.type]
    shown.push({ ...contentShape(call.url.origin, repository, ref, { ...child, path }), type })
  }
  return shown
}

async function blob(world: World, call: Call, repository: Repository): Promise<Answer> {
  const object = await (await world.gitOf(repository)).object(sha(call), RAW_BYTES_MAX)
  if (object === null || object.type !== 'blob') throw notFound()
  if (object.bytes === null) throw new Refusal(403, 'This API returns blobs up to 100 MB in size.')
  if (accepts(call, 'raw')) return rawAnswer(object.bytes)
  return ok({
    sha: object.sha,
    node_id: nodeId('Blob', object.sha),
    size: object.size,
    url: `${repositoryUrl(call.url.origin, repository)}/git/blobs/${object.sha}`,
    content: base64Lines(object.bytes),
    encoding: 'base64',
  })
}

async function tree(world: World, call: Call, repository: Repository): Promise<Answer> {
  const git = await world.gitOf(repository)
  const { sha: name = '' } = call.params
  const found = await git.entry((await world.commitOf(repository, name)) ?? sha(call), '')
  if (found === null) throw notFound()
  const api = `${repositoryUrl(call.url.origin, repository)}/git`
  const shown: unknown[] = []
  let truncated = false
  // GitHub takes any value of `recursive`, even `false`, as yes.
  for await (const entry of git.tree(found.sha, call.url.searchParams.has('recursive'))) {
    if (shown.length === TREE_ENTRIES_MAX) {
      truncated = true
      break
    }
    const { path, mode, type, size } = entry
    const url = `${api}/${type === 'tree' ? 'trees' : type === 'blob' ? 'blobs' : 'commits'}/${entry.sha}`
    shown.push({ path, mode, type, sha: entry.sha, ...(size === null ? {} : { size }), url })
  }
  return ok({ sha: found.sha, url: `${api}/trees/${found.sha}`, tree: shown, truncated })
}

async function compare(world: World, call: Call, repository: Repository): Promise<Answer> {
  const [baseRef, headRef] = (call.params.basehead ?? '').split('...')
  if (!baseRef || !headRef) throw notFound()
  // A fork's branch is written `owner:branch`; there are no forks here.
  const commits = [baseRef, headRef].map((ref) => world.commitOf(repository, ref.replace(/^[^:]*:/, '')))
  const [base, head] = await Promise.all(commits)
  if (base == null || head == null) throw notFound()
  const comparison = await world.compare(repository, base, head)
  if (comparison === null) throw new Refusal(404, `No common ancestor between ${baseRef} and ${headRef}.`)
  const git = await world.gitOf(repository)
  const { ahead, behind } = comparison
  const [shown, baseCommit, mergeBaseCommit] = await Promise.all([
    git.commits(base, head, PULL_COMMITS_MAX),
    git.commit(base),
    git.commit(comparison.mergeBase),
  ])
  const page = pageOf(call)
  const url = call.url.origin
  const html = `${htmlUrl(url, repository)}/compare/${baseRef}...${headRef}`
  const shape = (commit: Commit | null) => (commit === null ? null : commitShape(url, repository, commit))
  // Files come with the first page only; commits are paged when the caller asks for pages.
  const paged = call.url.searchParams.has('page') || call.url.searchParams.has('per_page')
  return ok(
    {
      url: `${repositoryUrl(url, repository)}/compare/${baseRef}...${headRef}`,
      html_url: html,
      permalink_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      base_commit: shape(baseCommit),
      merge_base_commit: shape(mergeBaseCommit),
      status: ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
      ahead_by: ahead,
      behind_by: behind,
      total_commits: ahead,
      commits: (paged ? slice(shown, page) : shown).map(shape),
      files: page.number === 1 ? await filesOf(world, call, repository, comparison, COMPARED_FILES_MAX) : [],
    },
    paged ? linkHeader(call, page, shown.length) : {},
  )
}

/** A SHA out of the address; anything else would be git's revision syntax, which GitHub doesn't take there. */
function sha(call: Call): string {
  const { sha: text = '' } = call.params
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text))
    throw new Refusal(422, 'The sha parameter must be exactly 40 characters and contain only [0-9a-f].')
  return text
}

function rawAnswer(bytes: Buffer | null): Answer {
  if (bytes === null) throw notFound()
  return { status: 200, bytes, contentType: 'application/vnd.github.raw; charset=utf-8' }
}
