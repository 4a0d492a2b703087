/** The App's secret as stored in Secrets Manager: App id, private key, webhook secrets. */
import { Refused } from '../base/errors.ts'

export interface AppSecret {
  readonly appId: number
  /** PEM */
  readonly privateKey: string
  /** One secret, or the old and the new during a rotation. */
  readonly webhookSecrets: readonly string[]
}

/** Reads the secret's text. Throws Refused `secret_missing` without a quote of the text. */
export function appSecretOf(text: string): AppSecret {
  const value = parse(text)
  const { appId, privateKey, webhookSecrets } = value
  const secrets = Array.isArray(webhookSecrets) ? webhookSecrets.filter((secret) => typeof secret === 'string') : []
  if (typeof appId !== 'number' || typeof privateKey !== 'string' || secrets.length === 0) throw invalid()
  return { appId, privateKey, webhookSecrets: secrets }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // The parser's message quotes the text, so the error below replaces it.
  }
  throw invalid()
}

function invalid(): Refused {
  return new Refused(
    'secret_missing',
    'The GitHub App’s secret lacks appId, privateKey or webhookSecrets.',
    'Store JSON: {"appId": 1, "privateKey": "…", "webhookSecrets": ["…"]}; docs/deploy.md shows the command.',
  )
}
