/**
 * GitHub, simulated: the local stand-in's own routes and rules over records and commits in memory. Everything here is
 * settled by microtasks alone, what people do as well as what is asked, so nothing of it outlasts the event it is done in.
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
  /** Its key may be small: only the time to sign and verify depends on that. */
  readonly app: AppIdentity
  readonly now: WorldClock
  /** Where the API is called; `https://github.simulated` if absent. */
  readonly url?: string
  /** What all reads lag by, ms; `lag` orders more for a route. */
  readonly lagMs?: number
}

export interface NewSimulatedRepository {
  readonly owner: string
  readonly name: string
  /** The first commit of its branch `main`, by path. */
  readonly files: Readonly<Record<string, string>>
  readonly private?: boolean
}

export interface NewSimulatedPullRequest {
  /** `owner/name`. */
  readonly repository: string
  /** What its first head changes in `main`, by path; null deletes. */
  readonly files: Readonly<Record<string, string | null>>
  readonly title?: string
  readonly body?: string | null
  readonly author?: { login: string; type: 'User' | 'Bot' }
  readonly draft?: boolean
}

/** A webhook that GitHub hands over, signed over exactly this body. To redeliver it is to send it again. */
export interface SimulatedWebhook {
  readonly event: string
  readonly action: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Network faults are the wire's, so `fail` isn't here; the limits on new content, 80 a minute and 500 an hour, are. */
export interface SimulatedGitHub extends Omit<Controls, 'fail' | 'addRepository' | 'deliveries'>, SettlingService {
  readonly url: string
  addRepository(input: NewSimulatedRepository): Promise<Repository & { installationId: number }>
  /** Another branch of `main`'s head with one commit, and a pull request of it: `opened`. */
  open(input: NewSimulatedPullRequest): Promise<{ number: number; head: string }>
  /** Another commit upon the pull request's head: `synchronize`, if it is open. The new head. */
  push(repository: string, number: number, files: NewSimulatedPullRequest['files']): Promise<string>
  /** The repository's commits, for a scenario that needs more than `open` and `push`. */
  git(repository: string): MemoryGit
  /** The webhooks since the last call, in the order of what they tell. */
  takeWebhooks(): SimulatedWebhook[]
  /** Everything that took effect through the API, oldest first. Grows; never changes. */
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
      // Named for what is on it, since numbers are given only when it is opened.
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

/** Nobody guesses a simulated token, so they are counted: the same in every world that does the same. */
function counting(): RandomSource {
  let count = 0
  return {
    hex(bytes) {
      count += 1
      return count.toString(16).padStart(bytes * 2, '0')
    },
  }
}
