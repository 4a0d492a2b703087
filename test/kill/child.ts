/**
 * The process that is killed: the whole stack on one state, and the people who open, push and close. A restart on the
 * same state continues, and reports the rest of the system.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RecordedRequest } from '../../infra/local/github/api.ts'
import type { GitHubStandIn } from '../../infra/local/github/github.ts'
import { type LocalStack, startLocalStack } from '../../infra/local/stack.ts'
import { assertNoViolations, validating } from '../contract/contract.ts'
import { unrestOf } from './judge.ts'
import type { ChildMessage, ChildOptions } from './messages.ts'
import { makeRepository, type RoundRepository } from './repository.ts'
import { type Landmark, type Scenario, type Step, scenarioOf } from './scenario.ts'
import { openSnapshotTaker, pullRequestsOf, REPOSITORY, REPOSITORY_NAME, type SystemSnapshot } from './snapshot.ts'

/** A short lease: a dead worker is missed in seconds, and the sweeper is faster by the same factor. */
const LEASE_SECONDS = 6
/** The interval between looks at a busy system, ms: the ledger announces no changes. */
const LOOK_MS = 400

const options = JSON.parse(process.argv[2] ?? '{}') as ChildOptions
const startedAt = Date.now()
// The parent may be killed too.
process.once('disconnect', () => process.exit(1))

tell({ kind: 'landmark', landmark: 'start' })
const scenario = scenarioOf(options.seed)
const repository = await makeRepository(options.gitDirectory, scenario)
const stack = await startLocalStack({
  directory: options.stateDirectory,
  cacheDirectory: options.cacheDirectory,
  leaseSeconds: LEASE_SECONDS,
  onLog(_name, line) {
    appendFileSync(options.logFile, `${line}\n`)
    reportRoom(line)
  },
})
const { github } = stack
if (!github) throw new Error('The stack has no GitHub stand-in.')
validating(github)
await github.addRepository({ ...REPOSITORY, gitDirectory: repository.gitDirectory, defaultBranch: 'main' })
tell({ kind: 'landmark', landmark: 'up' })
const snapshots = openSnapshotTaker(stack)
tell({ kind: 'found', found: foundIn(await snapshots.take()) })
void reportWrites(github)
await act(stack, github, scenario, repository)
await rest(github)
await stack.close()
process.disconnect?.()

/** Does the remaining steps of the scenario; a step cut off by a kill is repeated, without a second effect. */
async function act(
  stack: LocalStack,
  github: GitHubStandIn,
  { steps, pullRequests }: Scenario,
  { base, heads }: RoundRepository,
): Promise<void> {
  const file = path.join(options.stateDirectory, 'steps-done')
  const done = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  for (const [index, step] of steps.entries()) {
    if (index < done) continue
    await delay(step.afterMs)
    await perform(stack, github, step)
    // By a rename: a kill must not leave half a number.
    writeFileSync(`${file}.next`, String(index + 1))
    renameSync(`${file}.next`, file)
  }

  async function perform(stack: LocalStack, github: GitHubStandIn, { pullRequest, action }: Step): Promise<void> {
    const { branch, title, body } = pullRequests[pullRequest] as Scenario['pullRequests'][number]
    const sha = (head: number) => heads[pullRequest]?.[head] as string
    const known = pullRequestsOf(stack).find(({ head }) => head.ref === branch)
    if (action.kind === 'open') {
      const author = { login: 'jun', type: 'User' } as const
      const refs = { base: 'main', baseSha: base, head: branch, headSha: sha(0) }
      if (!known) await github.openPullRequest({ repository: REPOSITORY_NAME, ...refs, title, body, author })
      return
    }
    if (!known) throw new Error(`The pull request of ${branch} was opened, and is not there.`)
    const { number } = known
    switch (action.kind) {
      case 'push':
        return github.pushHead(REPOSITORY_NAME, number, sha(action.head))
      case 'edit':
        return github.edit(REPOSITORY_NAME, number, { body: action.body })
      case 'close':
        return github.closePullRequest(REPOSITORY_NAME, number)
      case 'reopen':
        return github.reopenPullRequest(REPOSITORY_NAME, number, sha(action.head))
      case 'redeliver': {
        const opened = github.deliveries().find((delivery) => delivery.number === number)
        return opened && github.redeliver(opened.guid)
      }
    }
  }
}

/** Waits for rest and reports the snapshot, or reports the unrest at the time limit. */
async function rest(github: GitHubStandIn): Promise<void> {
  for (;;) {
    const snapshot = await snapshots.take()
    const unrest = unrestOf(snapshot)
    if (unrest.length === 0 || Date.now() - startedAt > options.restMsMax) {
      // A request or an answer against GitHub's description ends this process by its exception: the round fails.
      assertNoViolations(github)
      return tell({ kind: 'ended', snapshot, unrest })
    }
    // GitHub doesn't redeliver by itself: the App's operator does, in the settings.
    for (const { guid, ended, status } of snapshot.deliveries) {
      if (ended && (status === null || status >= 500)) await github.redeliver(guid)
    }
    await delay(LOOK_MS)
  }
}

/** A room's log line proves an invocation of the room. */
function reportRoom(line: string): void {
  const room = /"service":"muster-(\w+)"/.exec(line)?.[1]
  const landmark = `${room} ran`
  if (isLandmark(landmark)) tell({ kind: 'landmark', landmark })
}

/** An answered write was done: the moment right after the write is the most interesting one for a kill. */
async function reportWrites(github: GitHubStandIn): Promise<void> {
  const told = new Set<RecordedRequest>()
  for (;;) {
    const changed = github.changed()
    for (const request of github.requests()) {
      if (told.has(request)) continue
      told.add(request)
      const landmark = request.status < 400 ? landmarkOf(request) : undefined
      if (landmark) tell({ kind: 'landmark', landmark })
    }
    await changed
    // The change comes before the record of its request.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function landmarkOf({ method, path }: RecordedRequest): Landmark | undefined {
  if (method === 'GET') return undefined
  if (/\/reviews\/\d+\/events$/.test(path)) return 'review submitted'
  if (method === 'POST' && /\/reviews$/.test(path)) return 'review created, pending'
  if (/\/check-runs$/.test(path)) return 'check run created'
  if (/\/check-runs\/\d+$/.test(path)) return 'check run changed'
  if (method === 'POST' && /\/comments$/.test(path)) return 'comment created'
  return /\/labels/.test(path) ? 'label changed' : undefined
}

function isLandmark(name: string): name is Landmark {
  return ['webhook ran', 'plan ran', 'admit ran', 'review ran', 'conclude ran', 'post ran'].includes(name)
}

/** The unfinished work of an earlier process, in a few words; empty without any. */
function foundIn({ items, pullRequests, deliveries, executions }: SystemSnapshot): string {
  const runs = items.filter(({ sk, state }) => sk === 'RUN' && state !== 'ended')
  const pending = pullRequests.flatMap(({ reviews }) => reviews.filter((review) => review.pending))
  const untaken = deliveries.filter(({ ended }) => !ended)
  const counted: readonly (readonly [number, string])[] = [
    [untaken.length, 'webhook'],
    ...[...new Set(runs.map(({ state }) => String(state)))].map(
      (state) => [runs.filter((run) => run.state === state).length, `run ${state}`] as const,
    ),
    [executions.length, 'execution'],
    [pending.length, 'pending review'],
  ]
  return counted
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ')
}

function tell(message: ChildMessage): void {
  process.send?.(message)
}
