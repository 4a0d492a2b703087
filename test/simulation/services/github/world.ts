/** Builds the same small history twice: in a git repository behind the local stand-in, and in the simulated GitHub. */
import { generateKeyPairSync } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { Controls } from '../../../../infra/local/github/controls.ts'
import { startGitHub } from '../../../../infra/local/github/github.ts'
import { installationId } from '../../../../infra/local/github/identity.ts'
import { serve } from '../../../../infra/local/service.ts'
import { openGitHub } from '../../../../shared/github/client.ts'
import type { GitHub } from '../../../../shared/github/github.ts'
import { assertNoViolations, validating } from '../../../contract/contract.ts'
import { makeRepository } from '../../../infra/local/github/support.ts'
import { createGitHub, type SimulatedGitHub } from '../github.ts'

const privateKey = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
export const APP = { id: 77, slug: 'muster', privateKey, webhookSecret: 'a secret for tests' }
export const REPO = { owner: 'acme', name: 'widgets' }
export const REPOSITORY = `${REPO.owner}/${REPO.name}`

export interface Clock {
  ms: number
}

type Files = Readonly<Record<string, string | null>>

/** One of the two GitHubs, with the actions of a scenario. */
export interface Side {
  readonly controls: Pick<Controls, 'pullRequest' | 'closePullRequest' | 'reopenPullRequest' | 'edit' | 'comment'>
  readonly github: GitHub
  /** The commits, oldest first: the base, the pull request's first head, and the heads to push. */
  readonly commits: readonly string[]
  push(commit: number): Promise<void>
  /** Bodies of all webhooks up to now, without the API's address. */
  webhooks(): unknown[]
}

/** The time of the commit with this index in the test repositories, ms UTC. */
export const commitTime = (index: number) => (1_790_000_000 + index) * 1_000

/** The stand-in over git, with an open pull request. */
export async function overGit(clock: Clock, ...history: Files[]): Promise<Side> {
  const { directory, commits } = makeRepository(...history)
  const standIn = await startGitHub({ app: APP, now: () => clock.ms })
  validating(standIn)
  onTestFinished(async () => {
    await standIn.close()
    assertNoViolations(standIn, { refusedRequests: true })
  })
  clock.ms = commitTime(0)
  await standIn.addRepository({ ...REPO, gitDirectory: directory, defaultBranch: 'main' })
  const [baseSha = '', headSha = ''] = commits
  clock.ms = commitTime(1)
  await standIn.openPullRequest({
    repository: REPOSITORY,
    base: 'main',
    baseSha,
    head: `change-${headSha.slice(0, 8)}`,
    headSha,
    title: 'A change',
    body: null,
    author: { login: 'ana', type: 'User' },
  })
  return {
    controls: standIn,
    github: openGitHub(APP_CREDENTIALS, { baseUrl: standIn.url, now: () => clock.ms })(installationId(REPO.owner)),
    commits,
    push: (commit) => standIn.pushHead(REPOSITORY, 1, commits[commit] ?? ''),
    webhooks: () => standIn.deliveries().map(({ payload }) => withoutAddress(payload, standIn.url)),
  }
}

/** The simulated GitHub behind a small HTTP server. */
export async function simulated(clock: Clock, ...history: Files[]): Promise<Side> {
  clock.ms = commitTime(0)
  const world = simulatedGitHub(clock)
  const [base = {}, first = {}, ...later] = history
  const { installationId: installation } = await world.addRepository({ ...REPO, files: base as Record<string, string> })
  clock.ms = commitTime(1)
  const { head } = await world.open({ repository: REPOSITORY, files: first })
  const git = world.git(REPOSITORY)
  const commits = [(await git.resolveCommit('main')) ?? '', head]
  for (const [index, files] of later.entries()) {
    commits.push(git.add({ parent: commits.at(-1) ?? '', files, at: commitTime(index + 2) }))
  }
  const url = await servedAt(world)
  const seen: unknown[] = []
  return {
    controls: world,
    github: openGitHub(APP_CREDENTIALS, { baseUrl: url, now: () => clock.ms })(installation),
    commits,
    push: (commit) => world.pushHead(REPOSITORY, 1, commits[commit] ?? ''),
    webhooks() {
      seen.push(...world.takeWebhooks().map(({ body }) => withoutAddress(body, world.url)))
      return seen
    },
  }
}

const APP_CREDENTIALS = { appId: APP.id, privateKey }

/** A simulated GitHub; at the end of the test all exchanges are checked against GitHub's API description. */
export function simulatedGitHub(clock: Clock): SimulatedGitHub {
  const world = createGitHub({ app: APP, now: () => clock.ms })
  validating(world)
  onTestFinished(() => assertNoViolations(world, { refusedRequests: true }))
  return world
}

/** The HTTP address of a simulated GitHub until the test ends. */
export async function servedAt(world: SimulatedGitHub): Promise<string> {
  const service = await serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const { method = '', url: path = '' } = request
    const answer = await world.answerLater({ method, path, headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  onTestFinished(() => service.close())
  return service.url
}

function withoutAddress(payload: string, url: string): unknown {
  return JSON.parse(payload.replaceAll(url, 'https://github.test'))
}
