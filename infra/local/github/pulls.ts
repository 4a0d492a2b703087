/**
 * The actions of people on pull requests: open, push, edit, close. Each action is one change together with its webhook.
 */
import { checkBodyLength } from './http.ts'
import { repositoryId } from './identity.ts'
import { addIssueComment } from './issue-comments.ts'
import { commentPayload, type PullRequestAction, pullRequestPayload } from './payloads.ts'
import {
  type Account,
  type Branch,
  fullName,
  type Permission,
  type PullRequest,
  pullKey,
  type Repository,
} from './records.ts'
import type { PullCounts } from './representations/pull.ts'
import type { Writer } from './store/access.ts'
import { TOP } from './store/store.ts'
import type { WebhookSender } from './webhooks.ts'
import type { World } from './world.ts'

export interface NewRepository {
  owner: string
  name: string
  /**
   * A clone's folder, a bare repository, or a `.git` directory or file; nothing is ever written into the repository.
   */
  gitDirectory: string
  defaultBranch: string
  private?: boolean
}

export interface NewPullRequest {
  /** `owner/name` of an added repository. */
  repository: string
  /** The branch names in answers; the branches need not exist in git. The SHAs must. */
  base: string
  baseSha: string
  head: string
  headSha: string
  title: string
  body: string | null
  author: { login: string; type: 'User' | 'Bot' }
  draft?: boolean
}

export interface PullRequestEdit {
  title?: string
  body?: string | null
  base?: Branch
}

/** GitHub refuses other names; a name is also a part of addresses here. */
const NAME = /^[A-Za-z0-9._-]{1,100}$/

const FIRST_PULL_ID = 2_000_000_001

export class PullRequests {
  readonly #world: World
  readonly #webhooks: WebhookSender
  readonly #url: () => string

  /** `url` is the root of the API, asked late: the port is known only once the server listens. */
  constructor(world: World, webhooks: WebhookSender, url: () => string) {
    this.#world = world
    this.#webhooks = webhooks
    this.#url = url
  }

  async addRepository(input: NewRepository): Promise<Repository> {
    const { owner, name, defaultBranch } = input
    if (!NAME.test(owner) || !NAME.test(name)) {
      throw new Error(
        `invalid_repository_name: ${owner}/${name} isn't a valid name on GitHub. Use letters, digits, ".", "_" and "-".`,
      )
    }
    const git = await this.#world.openGit(input.gitDirectory)
    git.close()
    const id = repositoryId(owner, name)
    return this.#world.store.change((writer) => {
      const known = writer.get('repository', id)
      if (known !== undefined && fullName(known).toLowerCase() !== `${owner}/${name}`.toLowerCase()) {
        throw new Error(
          `repository_id_taken: ${owner}/${name} would get the id of ${fullName(known)}. Use another name.`,
        )
      }
      const first = { createdAt: this.#world.now(), lastNumber: 0, permissions: {} }
      const repository: Repository = {
        ...first,
        ...known,
        id,
        owner,
        name,
        defaultBranch,
        gitDirectory: git.gitDirectory,
        private: input.private ?? false,
      }
      writer.put('repository', id, TOP, repository)
      return repository
    })
  }

  setPermission(repository: string, login: string, permission: Permission): void {
    const { id } = this.#world.repositoryNamed(repository)
    this.#world.store.change((writer) => {
      const current = writer.get('repository', id)
      if (current === undefined) return
      const permissions = { ...current.permissions, [login.toLowerCase()]: permission }
      writer.put('repository', id, TOP, { ...current, permissions })
    })
  }

  async open(input: NewPullRequest): Promise<number> {
    const repository = this.#world.repositoryNamed(input.repository)
    const author: Account = { login: input.author.login, type: input.author.type }
    const at = this.#world.now()
    const base = await this.#branch(repository, { ref: input.base, sha: input.baseSha })
    const head = await this.#branch(repository, { ref: input.head, sha: input.headSha })
    const draft: Omit<PullRequest, 'id' | 'number'> = {
      repositoryId: repository.id,
      title: input.title,
      body: input.body,
      author,
      state: 'open',
      draft: input.draft ?? false,
      base,
      head,
      heads: [head.sha],
      labels: [],
      createdAt: at,
      updatedAt: at,
      closedAt: null,
      mergedAt: null,
    }
    const counts = await this.#world.countsOf(repository, { ...draft, id: 0, number: 0 }, this.#world.store)
    const number = this.#world.store.change((writer) => {
      const current = writer.get('repository', repository.id) ?? repository
      const next = current.lastNumber + 1
      writer.put('repository', repository.id, TOP, { ...current, lastNumber: next })
      const pull: PullRequest = { ...draft, id: writer.next('pull', FIRST_PULL_ID), number: next }
      writer.put('pull', pullKey(repository.id, next), repository.id, pull)
      this.#tell(writer, current, pull, counts, { action: 'opened' })
      return next
    })
    this.#webhooks.sendDue()
    return number
  }

  async pushHead(repository: string, number: number, headSha: string): Promise<void> {
    const sha = await this.#commit(this.#world.repositoryNamed(repository), headSha)
    await this.#change(repository, number, (pull) =>
      pull.head.sha === sha
        ? null // a push of the current head changes nothing, and GitHub sends no webhook
        : {
            pull: { ...pull, head: { ...pull.head, sha }, heads: [...pull.heads, sha] },
            event: { action: 'synchronize', before: pull.head.sha, after: sha },
          },
    )
  }

  async edit(repository: string, number: number, edit: PullRequestEdit): Promise<void> {
    const base = edit.base && (await this.#branch(this.#world.repositoryNamed(repository), edit.base))
    await this.#change(repository, number, (pull) => {
      const changes = {
        ...(edit.title !== undefined && edit.title !== pull.title ? { title: { from: pull.title } } : {}),
        ...(edit.body !== undefined && edit.body !== pull.body ? { body: { from: pull.body ?? '' } } : {}),
        ...(base !== undefined && (base.ref !== pull.base.ref || base.sha !== pull.base.sha)
          ? { base: { ref: { from: pull.base.ref }, sha: { from: pull.base.sha } } }
          : {}),
      }
      if (Object.keys(changes).length === 0) return null
      const { title = pull.title, body = pull.body } = edit
      return { pull: { ...pull, title, body, base: base ?? pull.base }, event: { action: 'edited', changes } }
    })
  }

  async setDraft(repository: string, number: number): Promise<void> {
    await this.#change(repository, number, (pull) =>
      pull.draft ? null : { pull: { ...pull, draft: true }, event: { action: 'converted_to_draft' } },
    )
  }

  async markReady(repository: string, number: number): Promise<void> {
    await this.#change(repository, number, (pull) =>
      pull.draft ? { pull: { ...pull, draft: false }, event: { action: 'ready_for_review' } } : null,
    )
  }

  async close(repository: string, number: number, merged: boolean): Promise<void> {
    const at = this.#world.now()
    await this.#change(repository, number, (pull) =>
      pull.state === 'closed'
        ? null
        : {
            pull: { ...pull, state: 'closed', closedAt: at, mergedAt: merged ? at : null },
            event: { action: 'closed' },
          },
    )
  }

  async reopen(repository: string, number: number, headSha?: string, meanwhile: PullRequestEdit = {}): Promise<void> {
    const known = this.#world.repositoryNamed(repository)
    const sha = headSha === undefined ? undefined : await this.#commit(known, headSha)
    const movedBase = meanwhile.base && (await this.#branch(known, meanwhile.base))
    await this.#change(repository, number, (pull) => {
      if (pull.state === 'open') return null
      if (pull.mergedAt !== null) {
        throw new Error(
          `pull_request_merged: ${repository}#${number} is merged and can't be reopened. Open another pull request.`,
        )
      }
      const moved = sha !== undefined && sha !== pull.head.sha
      const head = moved ? { head: { ...pull.head, sha }, heads: [...pull.heads, sha] } : {}
      const { title = pull.title, body = pull.body } = meanwhile
      const edited = { title, body, base: movedBase ?? pull.base }
      return { pull: { ...pull, ...edited, ...head, state: 'open', closedAt: null }, event: { action: 'reopened' } }
    })
  }

  /** A person comments: `issue_comment`. The comment's id. */
  comment(name: string, number: number, login: string, body: string): number {
    checkBodyLength('IssueComment', body)
    const repository = this.#world.repositoryNamed(name)
    const at = this.#world.now()
    const id = this.#world.store.change((writer) => {
      const pull = { ...this.#world.pullNumbered(repository, number), updatedAt: at }
      const key = pullKey(repository.id, number)
      const author: Account = { login, type: 'User' }
      const comment = addIssueComment(writer, repository, { number, author, body, createdAt: at, updatedAt: at })
      const count = writer.list('issueComment', key).length
      const payload = commentPayload(this.#url(), this.#world.app, repository, pull, comment, count)
      this.#webhooks.record(writer, { event: 'issue_comment', repository, number, payload })
      return comment.id
    })
    this.#webhooks.sendDue()
    return id
  }

  /** Applies `decide` and records its webhook in one transaction; null changes nothing. */
  async #change(
    name: string,
    number: number,
    decide: (pull: PullRequest) => { pull: PullRequest; event: PullRequestAction } | null,
  ): Promise<void> {
    const repository = this.#world.repositoryNamed(name)
    const expected = decide(this.#world.pullNumbered(repository, number))
    if (expected === null) return
    // Counts take git, and git takes time; the transaction itself must not wait.
    const counts = await this.#world.countsOf(repository, expected.pull, this.#world.store)
    this.#world.store.change((writer) => {
      const decided = decide(this.#world.pullNumbered(repository, number))
      if (decided === null) return
      const pull = { ...decided.pull, updatedAt: this.#world.now() }
      writer.put('pull', pullKey(repository.id, number), repository.id, pull)
      this.#tell(writer, repository, pull, counts, decided.event)
    })
    this.#webhooks.sendDue()
  }

  #tell(writer: Writer, repository: Repository, pull: PullRequest, counts: PullCounts, event: PullRequestAction): void {
    const payload = pullRequestPayload(this.#url(), repository, pull, counts, event)
    this.#webhooks.record(writer, { event: 'pull_request', repository, number: pull.number, payload })
  }

  async #branch(repository: Repository, { ref, sha }: Branch): Promise<Branch> {
    return { ref, sha: await this.#commit(repository, sha) }
  }

  async #commit(repository: Repository, sha: string): Promise<string> {
    const commit = await (await this.#world.gitOf(repository)).resolveCommit(sha)
    if (commit === null) {
      throw new Error(
        `unknown_commit: ${sha} is no commit in ${repository.gitDirectory}. Fetch the commit, or name another.`,
      )
    }
    return commit
  }
}
