/**
 * The real posting code over the GitHub stand-in and the ledger on one machine. The one clock moves only when a test
 * moves it; a test may hold up, lose or kill every call of a poster.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostDeps } from '../../../functions/post/deps.ts'
import { postRun } from '../../../functions/post/post-run.ts'
import { buildExampleRepository, type ExampleRepository } from '../../../infra/local/github/example.ts'
import { type GitHubStandIn, startGitHub } from '../../../infra/local/github/github.ts'
import { installationId, repositoryId } from '../../../infra/local/github/identity.ts'
import type { Log } from '../../../shared/aws/log.ts'
import { putDocument } from '../../../shared/documents/documents.ts'
import { openGitHub } from '../../../shared/github/client.ts'
import type { GitHub } from '../../../shared/github/github.ts'
import { type Message, readMessage } from '../../../shared/ledger/message.ts'
import {
  type PullRequestName,
  raiseResources,
  readResources,
  resourceIn,
  type ShownResource,
} from '../../../shared/ledger/resource.ts'
import { readRun } from '../../../shared/ledger/run.ts'
import { keyOf, type Ledger } from '../../../shared/ledger/table.ts'
import { readThread } from '../../../shared/ledger/thread.ts'
import { checkRunIdentity } from '../../../shared/publishing/check-run.ts'
import {
  type InlineComment,
  markerOf,
  type Resource,
  type ReviewMessage,
} from '../../../shared/publishing/github-payloads.ts'
import type { Repository, Run } from '../../../shared/runs/run.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { runOf } from '../../shared/samples.ts'

const OWNER = 'acme'
const NAME = 'parcels'
const APP = { id: 77, slug: 'muster', webhookSecret: 'unused' }
const PLAN_KEY = 'plan'
const MESSAGE_KEY = 'review'

/** Hooks around a poster's calls. */
export interface Around {
  /** Around each call to GitHub, by its method's name; `call` makes the call. */
  readonly github?: (method: string, call: () => Promise<unknown>) => Promise<unknown>
  /** After each write to a message or a resource, before the poster learns of it. */
  readonly recorded?: () => Promise<void>
}

/** A pull request with a concluded run. */
export interface Subject {
  readonly run: Run
  readonly number: number
  readonly marker: string
}

export interface PostWorld {
  readonly standIn: GitHubStandIn
  readonly example: ExampleRepository
  /** GitHub for our App. */
  readonly github: GitHub
  readonly local: World
  readonly repository: Repository
  /** Opens a pull request whose concluded run owes nothing yet. */
  subject(name?: string): Promise<Subject>
  /** Owes the run's review; its comments stand on lines of the diff. */
  owe(subject: Subject, changes?: Partial<ReviewMessage>): Promise<ReviewMessage>
  /** Raises the next generation of a resource. */
  raise(subject: Subject, desired: Resource): Promise<void>
  checkRun(subject: Subject, title: string): Resource
  /** Nudges a fresh poster once. */
  post(subject: Subject, around?: Around): Promise<void>
  message(subject: Subject): Promise<Message | undefined>
  resource(subject: Subject, kind: string): Promise<ShownResource | undefined>
  /** The thread's counted round. */
  round(subject: Subject): Promise<number>
  /** The next due time of the run and its items, ms UTC; undefined if nothing is due. */
  dueAt(subject: Subject): Promise<number | undefined>
  /** GitHub's view of the pull request. */
  seen(subject: Subject): ReturnType<GitHubStandIn['pullRequest']>
  close(): Promise<void>
}

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

/** `lagMs`: the lag of GitHub's lists, by the test's clock. */
export async function openPostWorld(options: { lagMs?: number } = {}): Promise<PostWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-post-'))
  const [example, local] = await Promise.all([buildExampleRepository(join(directory, 'example')), startWorld()])
  const now = () => local.now
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const privateKey = pem.toString()
  const lag = options.lagMs === undefined ? {} : { lagMs: options.lagMs }
  const standIn = await startGitHub({ app: { ...APP, privateKey }, now, secondaryLimits: true, ...lag })
  await standIn.addRepository({
    owner: OWNER,
    name: NAME,
    gitDirectory: example.gitDirectory,
    defaultBranch: example.base.ref,
  })
  const { base, head } = example
  const installation = installationId(OWNER)
  const repository = { id: repositoryId(OWNER, NAME), owner: OWNER, name: NAME, installationId: installation }
  const github = openGitHub({ appId: APP.id, privateKey }, { baseUrl: standIn.url, now })(installation)
  const { ledger } = local
  const { documents } = local.ending
  // Everything set up before the test is visible to GitHub's lists.
  const seenByAll = () => {
    local.now += options.lagMs ?? 0
  }
  seenByAll()

  const pullRequestOf = (number: number): PullRequestName => ({ repositoryId: repository.id, number })
  const nameOf = (subject: Subject) => ({
    repositoryId: repository.id,
    number: subject.number,
    runId: subject.run.runId,
    planKey: PLAN_KEY,
    key: MESSAGE_KEY,
  })

  const world: PostWorld = {
    standIn,
    example,
    github,
    local,
    repository,
    async subject(name = 'subject') {
      const number = await standIn.openPullRequest({
        repository: `${OWNER}/${NAME}`,
        base: base.ref,
        baseSha: base.sha,
        head: head.ref,
        headSha: head.sha,
        title: name,
        body: null,
        author: { login: 'ana', type: 'User' },
      })
      seenByAll()
      const run = runOf({ repository, number, head: head.sha, state: 'concluded' })
      await local.put({ ...keyOf.run(run.runId), ...run, duePk: 'DUE#0', dueAt: local.now })
      const liveRun = { runId: run.runId, attempt: run.attempt, kind: run.kind, eventAt: run.eventAt }
      const thread = { repositoryId: repository.id, number, head: head.sha, baseRef: base.ref, liveRun }
      await local.put({
        ...keyOf.thread(repository.id, number),
        ...thread,
        series: 1,
        round: 0,
        nextSequence: 2,
        version: 1,
      })
      return { run, number, marker: markerOf.review(run.runId, PLAN_KEY) }
    },
    async owe(subject, changes = {}) {
      const message: ReviewMessage = {
        kind: 'review',
        marker: subject.marker,
        head: head.sha,
        event: 'COMMENT',
        body: `**Muster.** ${subject.number}\n\n${subject.marker}`,
        comments: [commentOn(1), commentOn(2)],
        ...changes,
      }
      const name = nameOf(subject)
      const key = keyOf.message(name.repositoryId, name.number, name.runId, name.planKey, name.key)
      const owed: Omit<Message, 'document'> = {
        ...name,
        attempt: subject.run.attempt,
        state: 'owed',
        series: 1,
        round: 1,
        errors: 0,
        leaseUntil: 0,
      }
      const document = await putDocument(documents, message)
      await local.put({ ...key, ...owed, document, duePk: 'DUE#0', dueAt: local.now })
      return message
    },
    async raise({ run, number }, desired) {
      const key = desired.kind === 'check_run' ? run.head : 'main'
      const wanted = [{ kind: desired.kind, key, document: await putDocument(documents, desired) }]
      await raiseResources(ledger, { ...pullRequestOf(number), runId: run.runId, wanted, now: local.now })
    },
    checkRun({ run }, title) {
      const shown = { status: 'completed', conclusion: 'neutral', title, summary: title, text: '' } as const
      return { kind: 'check_run', ...checkRunIdentity(run), ...shown, annotations: [] }
    },
    async post({ run }, around = {}) {
      const current = await readRun(ledger, run.runId)
      if (current === undefined) throw new Error('Expected the run to be stored, found none')
      const parts: PostDeps = {
        ledger: around.recorded === undefined ? ledger : recording(ledger, around.recorded),
        documents,
        github: around.github === undefined ? github : surrounded(github, around.github),
        owner: randomUUID(),
        now,
        log: silent,
      }
      await postRun(parts, local.coordinator, current)
    },
    message: (subject) => readMessage(ledger, nameOf(subject)),
    async resource({ number, run }, kind) {
      const resources = await readResources(ledger, pullRequestOf(number))
      return resourceIn(resources, { kind, key: kind === 'check_run' ? run.head : 'main' })
    },
    async round({ number }) {
      return (await readThread(ledger, repository.id, number))?.round ?? 0
    },
    async dueAt(subject) {
      const resources = await readResources(ledger, pullRequestOf(subject.number))
      const shown = [await world.message(subject), resources] as { dueAt?: number }[]
      const times = shown.flatMap((item) => (item?.dueAt === undefined ? [] : [item.dueAt]))
      if (times.length > 0) return Math.min(...times)
      // The run itself is due until its end, and at last only to be ended.
      return (await local.item(keyOf.run(subject.run.runId)))?.dueAt as number | undefined
    },
    seen: ({ number }) => standIn.pullRequest(`${OWNER}/${NAME}`, number),
    async close() {
      await standIn.close()
      await local.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return world
}

/** A comment on a line of the example's diff. */
export function commentOn(line: number): InlineComment {
  return { path: 'src/archive.js', side: 'RIGHT', line, body: `About line ${line}.` }
}

/** The same GitHub, with a hook around each call. */
function surrounded(github: GitHub, around: NonNullable<Around['github']>): GitHub {
  const methods = Object.entries(github).map(([method, call]) => [
    method,
    (...args: unknown[]) => around(method, () => (call as (...args: unknown[]) => Promise<unknown>)(...args)),
  ])
  // The methods of `github` by their names, each with its own arguments and result.
  return Object.fromEntries(methods) as unknown as GitHub
}

/** The same ledger, with a hook after each write to a message or a resource. */
function recording(ledger: Ledger, recorded: () => Promise<void>): Ledger {
  const client = new Proxy(ledger.client, {
    get(target, member) {
      if (member !== 'send') return Reflect.get(target, member, target)
      return async (command: { input: { Key?: { sk?: string }; UpdateExpression?: string } }, options: unknown) => {
        const answer = await (target.send as (command: unknown, options: unknown) => Promise<unknown>).call(
          target,
          command,
          options,
        )
        const { Key, UpdateExpression } = command.input
        if (UpdateExpression !== undefined && /^(MESSAGE#|SHOWN$)/.test(Key?.sk ?? '')) await recorded()
        return answer
      }
    },
  })
  return { ...ledger, client }
}
