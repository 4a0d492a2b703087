/**
 * The simulated GitHub: the local stand-in's own routes and rules over records and commits in memory. Microtasks alone
 * settle every request and every action of a person, so that no work outlasts its event.
 */

import type { AppIdentity } from '../../../infra/local/github/authentication.ts'
import type { Controls } from '../../../infra/local/github/controls.ts'
import { installationId } from '../../../infra/local/github/identity.ts'
import { newContent } from '../../../infra/local/github/limits.ts'
import type { RandomSource } from '../../../infra/local/github/random-source.ts'
import { pullKey, type Repository } from '../../../infra/local/github/records.ts'
import { createStandIn } from '../../../infra/local/github/stand-in.ts'
import { memoryStorage } from '../../../infra/local/github/store/memory.ts'
import { MemoryGit } from './github/memory-git.ts'
import { type AcceptedWrite, type FindPull, recordWrites } from './github/writes.ts'
import type { SettlingService, WireRequest, WorldClock } from './service.ts'

export interface SimulatedGitHubOptions {
  /** A small key is enough: the key's size only affects the time to sign and verify. */
  readonly app: AppIdentity
  readonly now: WorldClock
  /** The API's address; `https://github.simulated` if absent. */
  readonly url?: string
  /** The lag of all reads, ms; `lag` adds more for a route. */
  readonly lagMs?: number
}

export interface NewSimulatedRepository {
  readonly owner: string
  readonly name: string
  /** The files of the first commit of branch `main`, by path. */
  readonly files: Readonly<Record<string, string>>
  readonly private?: boolean
}

export interface NewSimulatedPullRequest {
  /** `owner/name`. */
  readonly repository: string
  /** Changes of the first head against `main`, by path; null deletes. */
  readonly files: Readonly<Record<string, string | null>>
  readonly title?: string
  readonly body?: string | null
  readonly author?: { login: string; type: 'User' | 'Bot' }
  readonly draft?: boolean
}

/**
 * A webhook handed over by GitHub, with a signature over exactly this body. A redelivery sends the same webhook again.
 */
export interface SimulatedWebhook {
  readonly event: string
  readonly action: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * `fail` is absent because the wire makes network faults. The limits on new content, 80 a minute and 500 an hour,
 * apply.
 */
export interface SimulatedGitHub extends Omit<Controls, 'fail' | 'addRepository' | 'deliveries'>, SettlingService {
  readonly url: string
  addRepository(input: NewSimulatedRepository): Promise<Repository & { installationId: number }>
  /** Creates a branch at the head of `main`, adds one commit, and opens a pull request. Webhook: `opened`. */
  open(input: NewSimulatedPullRequest): Promise<{ number: number; head: string }>
  /**
   * Adds a commit to the pull request's branch and returns the new head. Webhook: `synchronize`, if the pull request is
   * open.
   */
  push(repository: string, number: number, files: NewSimulatedPullRequest['files']): Promise<string>
  /** The repository's commits, for a scenario with needs beyond `open` and `push`. */
  git(repository: string): MemoryGit
  /** The webhooks since the last call, in the order of their events. */
  takeWebhooks(): SimulatedWebhook[]
  /** Every write with effect through the API, oldest first. The list grows; its entries never change. */
  readonly writes: readonly AcceptedWrite[]
}

const AUTHOR = { login: 'ana', type: 'User' } as const
const MAIN = 'main'

export function createGitHub(options: SimulatedGitHubOptions): SimulatedGitHub {
  const { app, now, url = 'https://github.simulated', lagMs = 0 } = options
  const repositories = new Map<string, MemoryGit>()
  const findPull: FindPull = (repository, by) => {
    const { id } = world.repositoryNamed(repository)
    const number = 'number' in by ? by.number : store.get('issueComment', by.commentId)?.number
    return number === undefined ? undefined : store.get('pull', pullKey(id, number))
  }
  const recorded = recordWrites(findPull, now)
  const { api, controls, store, webhooks, world } = createStandIn({
    app,
    storage: memoryStorage(),
    openGit: async (name) => gitNamed(name),
    random: counting(),
    now,
    url: () => url,
    lagMs,
    limited: newContent,
    innermost: recorded.layer,
  })
  let taken = 0

  function gitNamed(name: string): MemoryGit {
    const git = repositories.get(name)
    if (git === undefined) throw new Error(`unknown_repository: ${name} is not known here. Add it first.`)
    return git
  }

  return {
    ...controls,
    url,
    writes: recorded.writes,
    git: gitNamed,
    async addRepository({ owner, name, files, private: isPrivate = false }) {
      const gitDirectory = `${owner}/${name}`
      const git = new MemoryGit(gitDirectory)
      git.add({ files, at: now(), branch: MAIN })
      repositories.set(gitDirectory, git)
      const input = { owner, name, gitDirectory, defaultBranch: MAIN, private: isPrivate }
      return { ...(await controls.addRepository(input)), installationId: installationId(owner) }
    },
    async open({ repository, files, title = 'A change', body = null, author = AUTHOR, draft = false }) {
      const git = gitNamed(repository)
      const base = await git.resolveCommit(MAIN)
      if (base === null) throw new Error(`unknown_branch: ${repository} has no branch ${MAIN}.`)
      const head = git.add({ parent: base, files, at: now() })
      // Named after the content, as the pull request has no number before the opening.
      const branches = { base: MAIN, baseSha: base, head: `change-${head.slice(0, 8)}`, headSha: head }
      const number = await controls.openPullRequest({ repository, ...branches, title, body, author, draft })
      return { number, head }
    },
    async push(repository, number, files) {
      const parent = controls.pullRequest(repository, number).head.sha
      const head = gitNamed(repository).add({ parent, files, at: now() })
      await controls.pushHead(repository, number, head)
      return head
    },
    takeWebhooks() {
      const due = webhooks.deliveries().filter(({ sequence }) => sequence > taken)
      taken = due.at(-1)?.sequence ?? taken
      return due.map((delivery) => {
        const { event, action, payload: body } = delivery
        return { event, action, headers: webhooks.headersOf(delivery), body }
      })
    },
    async answerLater({ method, path, headers, body }: WireRequest) {
      const readBody = async () => Buffer.from(body)
      const { encoded } = await api.answer({ method, url: new URL(path, url), headers, readBody })
      return { status: encoded.status, headers: encoded.headers, body: encoded.body.toString('utf8') }
    },
  }
}

/** Counted tokens: worlds with the same requests get the same tokens; simulated tokens need no secrecy. */
function counting(): RandomSource {
  let count = 0
  return {
    hex(bytes) {
      count += 1
      return count.toString(16).padStart(bytes * 2, '0')
    },
  }
}
