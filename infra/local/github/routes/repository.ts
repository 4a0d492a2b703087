/** Routes that read a repository: files, blobs, comparisons, and the permissions of people. */
import type { Commit, TreeEntry } from '../git/git.ts'
import { type Answer, type Call, notFound, ok, Refusal, type Route } from '../http.ts'
import { nodeId } from '../identity.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import type { Repository } from '../records.ts'
import { userJson } from '../representations/account.ts'
import {
  base64Lines,
  commitJson,
  contentJson,
  diffEntryJson,
  htmlUrl,
  repositoryUrl,
} from '../representations/repository.ts'
import { type Comparison, PULL_COMMITS_MAX, type World } from '../world.ts'

/** Between 1 and 100 MB `contents` gives no content, above that nothing: docs.github.com, REST, contents. */
const CONTENT_BYTES_MAX = 1_024 * 1_024
const BLOB_BYTES_MAX = 100 * 1_024 * 1_024

/** A folder in `contents` shows 1,000 entries: docs.github.com, REST, contents. */
const FOLDER_ENTRIES_MAX = 1_000

/** A comparison shows at most 300 files a page: docs.github.com, REST, compare two commits. */
const COMPARED_FILES_MAX = 300

export function repositoryRoutes(world: World): Route[] {
  const route = (pattern: string, handle: (call: Call, repository: Repository) => Promise<Answer> | Answer): Route => ({
    method: 'GET',
    pattern: `/repos/:owner/:repo${pattern}`,
    handle: (call) => handle(call, world.repositoryFor(call)),
  })
  return [
    route('/contents/*path', (call, repository) => contents(world, call, repository)),
    route('/contents', (call, repository) => contents(world, call, repository)),
    route('/git/blobs/:sha', (call, repository) => blob(world, call, repository)),
    route('/compare/*basehead', (call, repository) => compare(world, call, repository)),
    route('/collaborators/:login/permission', (call, repository) => {
      const { login = '' } = call.params
      const permission = world.permissionOf(repository, login)
      // The old four levels, and beside them the role: maintain counts as write, triage as read.
      const level = permission === 'maintain' ? 'write' : permission === 'triage' ? 'read' : permission
      const user = { ...userJson(call.url.origin, { login, type: 'User' }), role_name: permission }
      return ok({ permission: level, role_name: permission, user })
    }),
  ]
}

/** Some files of a comparison, with their patches, in the form of file lists. */
export async function filesOf(
  world: World,
  call: Call,
  repository: Repository,
  comparison: Comparison,
  countMax: number,
  from = 0,
) {
  const { mergeBase, head, list } = comparison
  const changes = list.changes.slice(from, from + countMax)
  const patches = await (await world.gitOf(repository)).patches(mergeBase, head, changes)
  return changes.map((change) => diffEntryJson(call.url.origin, repository, head, change, patches.get(change)))
}

async function contents(world: World, call: Call, repository: Repository): Promise<Answer> {
  const path = (call.params.path ?? '').replace(/\/$/, '')
  const ref = call.url.searchParams.get('ref') ?? repository.defaultBranch
  const git = await world.gitOf(repository)
  const commitSha = await world.commitOf(repository, ref)
  if (commitSha === null) throw new Refusal(404, `No commit found for the ref ${ref}`)
  const entry = await git.entry(commitSha, path)
  if (entry === null) throw notFound()
  const shown = contentJson(call.url.origin, repository, ref, entry)
  if (entry.type === 'tree') return ok(await folder(world, call, repository, ref, entry))
  if (entry.type === 'commit') return ok({ ...shown, type: 'submodule', submodule_git_url: null })
  if ((entry.size ?? 0) > BLOB_BYTES_MAX) throw new Refusal(403, 'This API returns blobs up to 100 MB in size.')
  const bytes = (await git.object(entry.sha, CONTENT_BYTES_MAX))?.bytes
  if (bytes == null) return ok({ ...shown, type: 'file', encoding: 'none', content: '' })
  if (entry.mode === '120000') return ok({ ...shown, type: 'symlink', target: bytes.toString('utf8') })
  return ok({ ...shown, type: 'file', encoding: 'base64', content: base64Lines(bytes) })
}

async function folder(world: World, call: Call, repository: Repository, ref: string, entry: TreeEntry) {
  const shown: unknown[] = []
  for await (const child of (await world.gitOf(repository)).tree(entry.sha)) {
    if (shown.length === FOLDER_ENTRIES_MAX) break
    const path = entry.path === '' ? child.path : `${entry.path}/${child.path}`
    const type = child.mode === '120000' ? 'symlink' : { blob: 'file', tree: 'dir', commit: 'submodule' }[child.type]
    shown.push({ ...contentJson(call.url.origin, repository, ref, { ...child, path }), type })
  }
  return shown
}

async function blob(world: World, call: Call, repository: Repository): Promise<Answer> {
  const object = await (await world.gitOf(repository)).object(sha(call), BLOB_BYTES_MAX)
  if (object === null || object.type !== 'blob') throw notFound()
  if (object.bytes === null) throw new Refusal(403, 'This API returns blobs up to 100 MB in size.')
  return ok({
    sha: object.sha,
    node_id: nodeId('Blob', object.sha),
    size: object.size,
    url: `${repositoryUrl(call.url.origin, repository)}/git/blobs/${object.sha}`,
    content: base64Lines(object.bytes),
    encoding: 'base64',
  })
}

async function compare(world: World, call: Call, repository: Repository): Promise<Answer> {
  const [baseRef, headRef] = (call.params.basehead ?? '').split('...')
  if (!baseRef || !headRef) throw notFound()
  // GitHub's notation for a fork's branch is `owner:branch`; no forks exist here.
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
  const shape = (commit: Commit | null) => (commit === null ? null : commitJson(url, repository, commit))
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

/** A SHA from the address; any other text would be git's revision syntax, which GitHub refuses there. */
function sha(call: Call): string {
  const { sha: text = '' } = call.params
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text))
    throw new Refusal(422, 'The sha parameter must be exactly 40 characters and contain only [0-9a-f].')
  return text
}
