/** Sample runs, reviews and tickets for tests: all members are set, and a test changes the members that matter. */
import { digestOf, sha256 } from '../../shared/base/digest.ts'
import type { Ticket } from '../../shared/fleet/schedule.ts'
import type { Review } from '../../shared/runs/review.ts'
import type { Repository, Run, RunRequest } from '../../shared/runs/run.ts'
import { runIdOf } from '../../shared/runs/run-identity.ts'

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
