/**
 * A whole Muster for a test file: the local stack with its own state, a model led by the test, a wire with faults, and
 * views of the results of a webhook. Tests wait for a promised state, never for a time.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { vi } from 'vitest'
import type { GitHubStandIn } from '../../infra/local/github/github.ts'
import type { Repository } from '../../infra/local/github/records.ts'
import type { PullRequestSnapshot } from '../../infra/local/github/snapshot.ts'
import { type LocalStack, startLocalStack } from '../../infra/local/stack.ts'
import { assertNoViolations, validating } from '../contract/contract.ts'
import { type Aws, type Item, openAws } from './aws.ts'
import { type Files, type GitRepository, makeGitRepository } from './git.ts'
import { type LedModel, startModel } from './model.ts'
import { type Answer, deliver, type Sending } from './webhooks.ts'
import { openWire, type Wire } from './wire.ts'

/** Wall time for a condition on a busy machine, ms. A pass never waits for the end of this time. */
const PATIENCE_MS = 150_000
/** The interval between looks without other events, ms: the ledger announces no changes. */
const LOOK_MS = 200
/** Log lines in a failure. */
const LINES_SHOWN = 25
/** Synthesized once for all files, and for `npm start`. */
const CACHE = path.resolve(import.meta.dirname, '../../.muster/cache')

export interface LogLine {
  readonly room: string
  readonly text: string
}

/** A repository at GitHub with the git repository behind it. */
export interface TestRepository extends GitRepository {
  readonly id: number
  readonly owner: string
  readonly name: string
  /** `owner/name` */
  readonly fullName: string
  /** The first commit of `main`. */
  readonly base: string
}

/** A pull request with its heads, and its repository. */
export interface TestPullRequest {
  readonly repository: TestRepository
  readonly number: number
  readonly head: string
}

export interface Muster {
  readonly stack: LocalStack
  readonly github: GitHubStandIn
  readonly model: LedModel
  readonly wire: Wire
  readonly aws: Aws
  readonly webhookSecret: string
  readonly lines: readonly LogLine[]
  /** Adds `acme/<name>` with these files on `main`. */
  repository(name: string, files?: Files, owner?: string): Promise<TestRepository>
  /** Opens a pull request with these changes; GitHub sends `opened`. */
  open(
    repository: TestRepository,
    change: Files,
    more?: { title?: string; body?: string | null; draft?: boolean },
  ): Promise<TestPullRequest>
  /** Commits upon the pull request's head and pushes; GitHub sends `synchronize`. */
  push(pullRequest: TestPullRequest, change: Files): Promise<TestPullRequest>
  /** Sends a signed webhook of the test's own. */
  deliver(body: string | Uint8Array, sending?: Sending): Promise<Answer>
  /** The pull request in GitHub's state. */
  shown(pullRequest: TestPullRequest): PullRequestSnapshot
  /** The answer to the newest delivery for this pull request, once it has come. */
  answered(pullRequest: TestPullRequest): Promise<{ readonly deliveryId: string } & Answer>
  run(runId: string): Promise<Item | undefined>
  /** The run of the newest delivery for this pull request, once it has ended. */
  ended(pullRequest: TestPullRequest): Promise<Item>
  /** The run of this id, once `attempt` or a later attempt has ended. */
  runEnded(runId: string, attempt?: number): Promise<Item>
  thread(pullRequest: TestPullRequest): Promise<Item>
  /** Looks at every change until `look` returns a value; rejects with `what` at the end of the patience. */
  until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T>
  close(): Promise<void>
}

/** Tests of a whole stack on a shared machine need more time than the default. */
export function patientTests(): void {
  vi.setConfig({ testTimeout: 2 * PATIENCE_MS, hookTimeout: 2 * PATIENCE_MS })
}

/** Starts the stack. Without `model: true` no model is configured. */
export async function startMuster(
  options: { leaseSeconds?: number; patienceMinutes?: number; model?: boolean } = {},
): Promise<Muster> {
  const directory = await mkdtemp(path.join(tmpdir(), 'muster-e2e-'))
  const lines: LogLine[] = []
  let activity = Promise.withResolvers<void>()
  const happened = () => {
    activity.resolve()
    activity = Promise.withResolvers<void>()
  }
  const wire = openWire()
  const model = await startModel()
  const stack = await startLocalStack({
    directory: path.join(directory, 'state'),
    cacheDirectory: CACHE,
    onLog(functionName, text) {
      lines.push({ room: functionName, text })
      happened()
    },
    ...(options.leaseSeconds === undefined ? {} : { leaseSeconds: options.leaseSeconds }),
    ...(options.patienceMinutes === undefined ? {} : { patienceMinutes: options.patienceMinutes }),
    ...(options.model ? { model: { baseUrl: model.baseUrl, model: 'led', apiKey: 'key-of-the-led-model' } } : {}),
  })
  const { github } = stack
  if (!github) throw new Error('The stack has no GitHub stand-in.')
  validating(github)
  const aws = openAws(stack)
  const app = JSON.parse(await readFile(path.join(directory, 'state/app.json'), 'utf8')) as { webhookSecrets: string[] }
  const [webhookSecret = ''] = app.webhookSecrets

  const muster: Muster = {
    stack,
    github,
    model,
    wire,
    aws,
    webhookSecret,
    lines,
    async repository(name, files = {}, owner = 'acme') {
      const git = await makeGitRepository(path.join(directory, 'git', owner, name))
      const base = await git.commit({ 'README.md': `# ${name}\n`, ...files })
      const known: Repository = await github.addRepository({
        owner,
        name,
        gitDirectory: git.directory,
        defaultBranch: 'main',
      })
      return { ...git, id: known.id, owner, name, fullName: `${owner}/${name}`, base }
    },
    async open(repository, change, more = {}) {
      const head = await repository.commit(change, repository.base)
      const number = await github.openPullRequest({
        repository: repository.fullName,
        base: 'main',
        baseSha: repository.base,
        head: 'feature',
        headSha: head,
        title: 'A change',
        body: 'What it is for',
        author: { login: 'ada', type: 'User' },
        ...more,
      })
      return { repository, number, head }
    },
    async push(pullRequest, change) {
      const { repository, number } = pullRequest
      const head = await repository.commit(change, pullRequest.head)
      await github.pushHead(repository.fullName, number, head)
      return { repository, number, head }
    },
    deliver: (body, sending) => deliver(stack.webhookUrl, webhookSecret, body, sending),
    shown: ({ repository, number }) => github.pullRequest(repository.fullName, number),
    answered: ({ repository, number }) =>
      until(`an answer to the webhook of ${repository.fullName}#${number}`, () => {
        const newest = github
          .deliveries()
          .findLast((delivery) => delivery.repository === repository.fullName && delivery.number === number)
        const { status, responseBody } = newest?.result ?? {}
        return typeof status === 'number' && newest
          ? { deliveryId: newest.guid, status, body: JSON.parse(responseBody ?? '') as Record<string, unknown> }
          : undefined
      }),
    run: (runId) => aws.item(`RUN#${runId}`, 'RUN'),
    async ended(pullRequest) {
      const { body } = await muster.answered(pullRequest)
      return muster.runEnded(String(body.run), Number(body.attempt))
    },
    runEnded: (runId, attempt = 1) =>
      until(`the end of run ${runId.slice(0, 10)}, attempt ${attempt}`, async () => {
        const run = await muster.run(runId)
        return run?.state === 'ended' && Number(run.attempt) >= attempt ? run : undefined
      }),
    async thread({ repository, number }) {
      return (await aws.item(`PR#${repository.id}#${number}`, 'THREAD')) ?? {}
    },
    until,
    async close() {
      await stack.close()
      // Whatever the test looked at: all requests to GitHub, and all answers, follow GitHub's description.
      assertNoViolations(github)
      await model.close()
      aws.close()
      wire.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return muster

  async function until<T>(
    what: string,
    look: () => T | undefined | false | Promise<T | undefined | false>,
  ): Promise<T> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      // Requested before the look, so that no change in between is missed.
      const next = Promise.race([activity.promise, github?.changed(), timeout(LOOK_MS)])
      const found = await look()
      if (found !== undefined && found !== false) return found
      if (Date.now() > deadline) throw new Error(`Not seen: ${what}.\n${lastLines()}`)
      await next
    }
  }

  function lastLines(): string {
    return lines
      .slice(-LINES_SHOWN)
      .map(({ room, text }) => `  ${room}: ${text}`)
      .join('\n')
  }
}

function timeout(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
