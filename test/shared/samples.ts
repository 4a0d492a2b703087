/** Sample runs, reviews, plans, messages, threads and tickets: all members are set, and a test changes the members that matter. */
import { digestOf, sha256 } from '../../shared/base/digest.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import type { Ticket } from '../../shared/fleet/schedule.ts'
import type { Message } from '../../shared/ledger/message.ts'
import type { Review } from '../../shared/runs/review.ts'
import type { Repository, Run, RunRequest } from '../../shared/runs/run.ts'
import { runIdOf } from '../../shared/runs/run-identity.ts'
import type { Thread } from '../../shared/runs/thread.ts'
import { DEFAULT_CONFIGURATION } from '../../shared/verdict/config.ts'
import type { Plan } from '../../shared/verdict/plan.ts'

export const repository: Repository = { id: 7, owner: 'acme', name: 'widgets', installationId: 70 }

/** A commit's SHA from a word. */
export const sha = (word: string): string => sha256(word).slice(0, 40)

/** A request for a head, with the identity of its cause. */
export function requestOf(changes: Partial<RunRequest> = {}): RunRequest {
  const head = changes.head ?? sha('head')
  const baseRef = changes.baseRef ?? 'main'
  const cause = changes.cause ?? `head:${head}:${baseRef}`
  const number = changes.number ?? 42
  const { id } = changes.repository ?? repository
  return {
    runId: runIdOf(id, number, cause),
    repository,
    number,
    cause,
    kind: 'full',
    head,
    baseRef,
    opensSeries: false,
    eventAt: 1_000,
    payloadDigest: digestOf({ cause, number, repository: id }),
    ...changes,
  }
}

export function runOf(changes: Partial<Run> = {}): Run {
  return {
    ...requestOf(changes),
    attempt: 1,
    state: 'accepted',
    acceptedAt: 2_000,
    deliveries: ['d1'],
    version: 1,
    ...changes,
  }
}

/** A wanted review, numbered so that several reviews differ. */
export function wantedReview(part: number, changes: Partial<Review> = {}) {
  return {
    runId: requestOf().runId,
    planKey: sha256('plan'),
    lens: 'secrets',
    part,
    attempt: 1,
    repository,
    pool: 'lambda',
    turn: 1_000 + part,
    token: `token-${part}`,
    ...changes,
  } as const
}

export function ticket(name: string, changes: Partial<Ticket> = {}): Ticket {
  return { reviewId: name, epoch: 1, repository: 7, installation: 70, pool: 'lambda', turn: 1_000, ...changes }
}

/** The thread of the pull request that `runOf` runs for, in its first round. */
export function threadOf(changes: Partial<Thread> = {}): Thread {
  const { number, head, baseRef } = requestOf()
  return {
    repositoryId: repository.id,
    number,
    head,
    baseRef,
    series: 1,
    round: 0,
    nextSequence: 1,
    version: 1,
    ...changes,
  }
}

/** A message of a run of that pull request, with nothing done for it yet. */
export function messageOf(changes: Partial<Message> = {}): Message {
  return {
    repositoryId: repository.id,
    number: requestOf().number,
    runId: requestOf().runId,
    attempt: 1,
    planKey: sha256('plan'),
    key: 'review',
    document: sha256('document'),
    state: 'owed',
    series: 1,
    round: 0,
    errors: 0,
    leaseUntil: 0,
    ...changes,
  }
}

/** A plan of that run, in which nothing is read. */
export function planOf(changes: Partial<Plan> = {}): Plan {
  const { runId, number, head, baseRef } = requestOf()
  return {
    contract: CONTRACT,
    runId,
    planKey: sha256('plan'),
    repository,
    pullRequest: {
      repository: 'acme/widgets',
      number,
      title: '',
      body: '',
      bodyCut: false,
      author: 'mia',
      head,
      baseRef,
    },
    head,
    baseSha: sha('base'),
    mergeBase: sha('base'),
    kind: 'full',
    round: 1,
    configuration: DEFAULT_CONFIGURATION,
    configurationProblems: [],
    template: undefined,
    files: [],
    leftOut: [],
    filesCut: false,
    texts: {},
    reviews: [],
    notRead: [],
    openFindings: [],
    announcements: { before: [] },
    carried: [],
    carriedLenses: [],
    carriedDispositions: [],
    model: undefined,
    plannedAt: 1_000,
    ...changes,
  }
}
