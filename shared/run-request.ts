/** The request for a run, from what identifies it. Whoever asks for the same cause asks for the same run. Pure. */
import { digestOf, runIdOf } from './identity.ts'
import type { RunRequest } from './run.ts'

/** With the identity and the digest of meaning that its cause gives it (DESIGN §4). */
export function runRequestOf(asked: Omit<RunRequest, 'runId' | 'payloadDigest'>): RunRequest {
  const { repository, number, cause, kind } = asked
  return {
    ...asked,
    runId: runIdOf(repository.id, number, cause),
    payloadDigest: digestOf({ cause, kind, number, repository: repository.id }),
  }
}
