/** The state that the routes share: the records, the git repositories, and the access rules. */
import type { AppIdentity, InstalledApp } from './authentication.ts'
import type { ChangeList, Git, OpenGit } from './git/git.ts'
import type { Actor } from './http.ts'
import { type Call, notFound, Refusal } from './http.ts'
import { installationId, repositoryId } from './identity.ts'
import { type PatchLine, parsePatch } from './patch.ts'
import { ASKED_PERMISSIONS, checkPermission, notAccessible } from './permissions.ts'
import { type Account, fullName, type Permission, type PullRequest, pullKey, type Repository } from './records.ts'
import type { PullCounts } from './representations/pull.ts'
import type { Reader } from './store/access.ts'
import type { Store } from './store/store.ts'

export interface Comparison {
  mergeBase: string
  head: string
  /** The files that differ between the merge base and the head. */
  list: ChangeList
  /** The number of commits that only the head has, and the number that only the base has. */
  ahead: number
  behind: number
}

/**
 * The number of kept comparisons, each at most 3,000 files (about 1 MB): a page after the first costs no second
 * listing.
 */
const COMPARISONS_KEPT_MAX = 8

/** GitHub shows at most 250 commits of a pull request: docs.github.com, REST, list commits on a pull request. */
export const PULL_COMMITS_MAX = 250

export class World {
  readonly app: InstalledApp
  readonly store: Store
  readonly now: () => number
  /** Opens a repository; `gitOf` keeps it open. */
  readonly openGit: OpenGit
  readonly #git = new Map<string, Promise<Git>>()
  readonly #comparisons = new Map<string, Promise<Comparison | null>>()

  constructor(app: AppIdentity, store: Store, openGit: OpenGit, now: () => number) {
    this.app = { ...app, permissions: ASKED_PERMISSIONS }
    this.store = store
    this.now = now
    this.openGit = openGit
  }

  /** The state for a call: the current state, or for a lagging read the state of `lagMs` ago. */
  readerFor(call: Call): Reader {
    return call.lagMs === 0 ? this.store : this.store.behind(call.lagMs)
  }

  /** By `owner/name`; throws `unknown_repository` for a caller inside this process. */
  repositoryNamed(name: string): Repository {
    const [owner = '', repo = ''] = name.split('/')
    const repository = this.store.get('repository', repositoryId(owner, repo))
    if (repository === undefined) {
      throw new Error(`unknown_repository: ${name} is unknown. Add the repository with addRepository first.`)
    }
    return repository
  }

  pullNumbered(repository: Repository, number: number): PullRequest {
    const pull = this.store.get('pull', pullKey(repository.id, number))
    if (pull === undefined) {
      throw new Error(
        `unknown_pull_request: ${fullName(repository)} has no pull request ${number}. Open the pull request first.`,
      )
    }
    return pull
  }

  /**
   * The repository of a call, if the caller may see the repository (404 otherwise) and the App has the permission
   * (403).
   */
  repositoryFor(call: Call): Repository {
    const { owner = '', repo = '' } = call.params
    const repository = this.readerFor(call).get('repository', repositoryId(owner, repo))
    if (call.actor.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
    if (call.actor.kind === 'app') throw new Refusal(401, 'A JSON web token could not be decoded')
    const own = repository !== undefined && call.actor.installationId === installationId(repository.owner)
    if (repository === undefined || (repository.private && !own)) throw notFound()
    if (call.method !== 'GET' && !own) throw notAccessible()
    checkPermission(call, repository, this.app.permissions)
    return repository
  }

  pullFor(call: Call, repository: Repository): PullRequest {
    const pull = this.readerFor(call).get('pull', pullKey(repository.id, Number(call.params.number)))
    if (pull === undefined) throw notFound()
    return pull
  }

  gitOf(repository: Repository): Promise<Git> {
    const known = this.#git.get(repository.gitDirectory)
    if (known !== undefined) return known
    const opening = this.openGit(repository.gitDirectory)
    this.#git.set(repository.gitDirectory, opening)
    opening.catch(() => this.#git.delete(repository.gitDirectory)) // the opener gets the error; the next call tries again
    return opening
  }

  /** A branch, tag or SHA of the git repository, or a branch that only a pull request here names. */
  async commitOf(repository: Repository, ref: string): Promise<string | null> {
    const sha = await (await this.gitOf(repository)).resolveCommit(ref)
    if (sha !== null) return sha
    const pulls = this.store.list('pull', repository.id).sort((one, other) => other.number - one.number)
    for (const { base, head } of pulls) {
      if (head.ref === ref) return head.sha
      if (base.ref === ref) return base.sha
    }
    return null
  }

  /** The files that `head` changes since its merge base with `base`; null for unrelated histories. */
  compare(repository: Repository, base: string, head: string): Promise<Comparison | null> {
    const key = `${repository.gitDirectory}\n${base}...${head}`
    const known = this.#comparisons.get(key)
    if (known !== undefined) return known
    const comparing = this.#compare(repository, base, head)
    this.#comparisons.set(key, comparing)
    comparing.catch(() => this.#comparisons.delete(key))
    for (const oldest of this.#comparisons.keys()) {
      if (this.#comparisons.size <= COMPARISONS_KEPT_MAX) break
      this.#comparisons.delete(oldest)
    }
    return comparing
  }

  async #compare(repository: Repository, base: string, head: string): Promise<Comparison | null> {
    const git = await this.gitOf(repository)
    const mergeBase = await git.mergeBase(base, head)
    if (mergeBase === null) return null
    const [list, divergence] = await Promise.all([git.changes(mergeBase, head), git.divergence(base, head)])
    return { mergeBase, head, list, ...divergence }
  }

  /** The patches of some files of a pull request at one of its heads, by path. A file without a patch is absent. */
  async patchLines(
    repository: Repository,
    pull: PullRequest,
    head: string,
    paths: ReadonlySet<string>,
  ): Promise<Map<string, PatchLine[]>> {
    const comparison = await this.compare(repository, pull.base.sha, head)
    const lines = new Map<string, PatchLine[]>()
    if (comparison === null) return lines
    const changes = comparison.list.changes.filter((change) => paths.has(change.path))
    const git = await this.gitOf(repository)
    const patches = await git.patches(comparison.mergeBase, head, changes)
    for (const [change, patch] of patches) lines.set(change.path, parsePatch(patch))
    return lines
  }

  async countsOf(repository: Repository, pull: PullRequest, reader: Reader): Promise<PullCounts> {
    const comparison = await this.compare(repository, pull.base.sha, pull.head.sha)
    const key = pullKey(repository.id, pull.number)
    const said = new Set(reader.list('review', key).flatMap(({ id, state }) => (state === 'PENDING' ? [] : [id])))
    return {
      comments: reader.list('issueComment', key).length,
      reviewComments: reader.list('reviewComment', key).filter((comment) => said.has(comment.reviewId)).length,
      commits: comparison?.ahead ?? 0,
      additions: comparison?.list.additions ?? 0,
      deletions: comparison?.list.deletions ?? 0,
      changedFiles: comparison?.list.fileCount ?? 0,
    }
  }

  /**
   * A person's permission: `admin` for the owner, else the given permission, else the default of public repositories.
   */
  permissionOf(repository: Repository, login: string): Permission {
    const name = login.toLowerCase()
    if (name === repository.owner.toLowerCase()) return 'admin'
    return repository.permissions[name] ?? (repository.private ? 'none' : 'read')
  }

  async close(): Promise<void> {
    for (const opened of await Promise.allSettled(this.#git.values())) {
      if (opened.status === 'fulfilled') opened.value.close()
    }
  }
}

/** The author of a write: only installations get here, because `repositoryFor` refuses all other callers. */
export function authorOf(actor: Actor): Account {
  if (actor.kind !== 'installation') throw new Refusal(401, 'Requires authentication')
  return actor.account
}
