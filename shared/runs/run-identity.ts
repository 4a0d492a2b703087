/** The identity of a run: its cause, its id, its request, and the name of its execution. Identity is hashed, never cut. Pure. */
import { digestOf } from '../base/digest.ts'
import { EXECUTION_NAME_CHARS_MAX } from '../base/limits.ts'
import type { Repository, Run, RunRequest } from './run.ts'

/** Why a run exists. The text is part of the run's identity. */
export const causeOf = {
  head: (sha: string, baseRef: string) => `head:${sha}:${baseRef}`,
  comment: (commentId: number) => `comment:${commentId}`,
  text: (title: string, body: string) => `text:${digestOf({ title, body })}`,
} as const

/** A run's id: SHA-256 of {repository id, pull request number, cause}. `owner/repo#5` never meets `owner_repo#5` (LE11). */
export function runIdOf(repositoryId: number, number: number, cause: string): string {
  return digestOf({ cause, number, repository: repositoryId })
}

/** The id of the reply to a comment, in place of a run's id: no run has the same cause. */
export function replyIdOf(repositoryId: number, number: number, commentId: number): string {
  return runIdOf(repositoryId, number, `reply:${commentId}`)
}

/** Characters outside of the names allowed by Step Functions and the log names of CloudWatch. */
const NOT_NAMEABLE = /[^0-9A-Za-z-]+/g

/**
 * A readable execution name, at most 80 of `[0-9A-Za-z-_]`: `acme-widgets-pr42-9b9189b-a1-<10 of the run id>`. Only the
 * readable part is ever shortened. Ten hex characters of the run id, with the attempt, tell executions of one state machine
 * apart; StartExecution's own comparison of the input catches the rest.
 */
export function executionNameOf(
  run: Pick<Repository, 'owner' | 'name'> & Pick<Run, 'number' | 'head' | 'attempt' | 'runId'>,
): string {
  const tail = `-pr${run.number}-${run.head.slice(0, 7)}-a${run.attempt}-${run.runId.slice(0, 10)}`
  const readable = `${run.owner}-${run.name}`
    .replace(NOT_NAMEABLE, '-')
    .slice(0, EXECUTION_NAME_CHARS_MAX - tail.length)
  return readable + tail
}

/** The request with the id and the digest of meaning given by its cause. */
export function runRequestOf(request: Omit<RunRequest, 'runId' | 'payloadDigest'>): RunRequest {
  const { repository, number, cause, kind } = request
  return {
    ...request,
    runId: runIdOf(repository.id, number, cause),
    payloadDigest: digestOf({ cause, kind, number, repository: repository.id }),
  }
}
