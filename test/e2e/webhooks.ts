/** Webhooks in GitHub's form, made and signed by a test: the public way into Muster. */
import { createHmac, randomUUID } from 'node:crypto'

export interface Answer {
  readonly status: number
  /** The answer's JSON. */
  readonly body: Record<string, unknown>
}

export interface Sending {
  /** `X-GitHub-Event`; `pull_request` if absent. */
  readonly event?: string
  /** `X-GitHub-Delivery`; a fresh id if absent. */
  readonly id?: string
  readonly contentType?: string
  /** In place of the right signature; null sends none. */
  readonly signature?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** `X-Hub-Signature-256` of exactly these bytes. */
export function signatureOf(secret: string, body: string | Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** The headers of a delivery. */
export function headersOf(secret: string, body: string | Uint8Array, sending: Sending = {}): Record<string, string> {
  const signature = sending.signature === undefined ? signatureOf(secret, body) : sending.signature
  return {
    'content-type': sending.contentType ?? 'application/json',
    'user-agent': 'GitHub-Hookshot/0000000',
    'x-github-event': sending.event ?? 'pull_request',
    'x-github-delivery': sending.id ?? randomUUID(),
    ...(signature === null ? {} : { 'x-hub-signature-256': signature }),
    ...sending.headers,
  }
}

/** Delivers these bytes. Rejects without an answer. */
export async function deliver(
  url: string,
  secret: string,
  body: string | Uint8Array,
  sending: Sending = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: headersOf(secret, body, sending),
    body: Buffer.from(body as string),
  })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> }
}

/** The part of a `pull_request` payload that Muster reads; every field can be replaced. */
export interface PayloadInput {
  readonly action?: string
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string }
  readonly number: number
  readonly head: string | undefined
  readonly baseRef?: string
  readonly title?: string
  readonly body?: string | null
  readonly draft?: boolean
  readonly updatedAt?: string
  /** null omits the field, as a repository's own webhook does. */
  readonly installationId?: number | null
  readonly changes?: object
}

/** A payload as JSON text. */
export function payloadOf(input: PayloadInput): string {
  const { repository, installationId = 7 } = input
  return JSON.stringify({
    action: input.action ?? 'opened',
    number: input.number,
    ...(input.changes ? { changes: input.changes } : {}),
    pull_request: {
      title: input.title ?? 'A change',
      body: input.body ?? null,
      draft: input.draft ?? false,
      updated_at: input.updatedAt ?? new Date().toISOString(),
      head: { ref: 'feature', ...(input.head === undefined ? {} : { sha: input.head }) },
      base: { ref: input.baseRef ?? 'main' },
    },
    repository: { id: repository.id, name: repository.name, owner: { login: repository.owner } },
    ...(installationId === null ? {} : { installation: { id: installationId } }),
  })
}
