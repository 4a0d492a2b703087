/** Secrets, cached by version with a time limit. A failed read is never cached, and no value is ever logged. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { Refused } from '../base/errors.ts'
import { SECRET_REFRESH_COOLDOWN_MS, SECRET_TTL_MS } from '../base/limits.ts'
import { sayingRetry, withDeadline } from './client.ts'

export interface Secret {
  readonly text: string
  /** The version's id: may be logged (AW10). */
  readonly version: string
}

/** Reads one secret, and keeps it for SECRET_TTL_MS. */
export interface SecretReader {
  /** The cached secret. `now` in ms UTC. Throws Refused `secret_missing` for a secret without text. */
  read(now: number, signal?: AbortSignal): Promise<Secret>
  /** Reads the secret anew, unless the cached secret is younger than SECRET_REFRESH_COOLDOWN_MS. */
  refresh(now: number, signal?: AbortSignal): Promise<Secret>
}

/** A reader of the secret with this name or ARN, one per container. */
export function openSecret(secretId: string): SecretReader {
  const client = sayingRetry(new SecretsManagerClient({ requestHandler: withDeadline() }))
  let cached: { secret: Secret; readAt: number } | undefined

  async function fetchSecret(now: number, signal: AbortSignal | undefined): Promise<Secret> {
    const answer = await client.send(
      new GetSecretValueCommand({ SecretId: secretId }),
      signal ? { abortSignal: signal } : {},
    )
    if (answer.SecretString === undefined || answer.SecretString === '') {
      throw new Refused('secret_missing', 'A secret has no text.', 'Put its value as docs/deploy.md says.')
    }
    const secret = { text: answer.SecretString, version: answer.VersionId ?? 'unknown' }
    cached = { secret, readAt: now }
    return secret
  }

  const youngerThan = (ageMs: number) => async (now: number, signal?: AbortSignal) =>
    cached && now - cached.readAt < ageMs ? cached.secret : fetchSecret(now, signal)
  return { read: youngerThan(SECRET_TTL_MS), refresh: youngerThan(SECRET_REFRESH_COOLDOWN_MS) }
}
