/**
 * Hands webhooks over as GitHub does: signed over the exact bytes, ten seconds to answer, never tried again by itself.
 * A delivery is recorded together with the change that it tells of, so that killing the process loses none: one that
 * had no result yet is sent when the stand-in runs again.
 */
import { createHmac } from 'node:crypto'
import type { AppIdentity } from './authentication.ts'
import { guidFrom, type RandomSource } from './random-source.ts'
import { type Delivery, type DeliveryResult, fullName, type Repository } from './records.ts'
import type { Writer } from './store/access.ts'
import type { Store } from './store/store.ts'

/** What is told, and of which pull request. */
export interface WebhookEvent {
  event: 'pull_request' | 'issue_comment'
  repository: Repository
  number: number
  payload: { action: string }
}

/** "Your server should respond with a 2XX response within 10 seconds": docs.github.com, webhooks, best practices. */
const ANSWER_DEADLINE_MS = 10_000

/** So much of an answer is kept for people to look at. */
const ANSWER_CHARACTERS_KEPT_MAX = 4_096

const HOOK_ID = 400_000_001

/** Deliveries without a result are kept apart from the ended ones, so that finding them costs nothing when there are many. */
const DUE = 'due'
const ENDED = 'ended'

export class WebhookSender {
  readonly #store: Store
  readonly #app: AppIdentity
  readonly #random: RandomSource
  readonly #now: () => number
  readonly #closing = new AbortController()
  readonly #underway = new Map<number, Promise<void>>()
  #endpoint: string | undefined

  constructor(store: Store, app: AppIdentity, random: RandomSource, now: () => number) {
    this.#store = store
    this.#app = app
    this.#random = random
    this.#now = now
  }

  /** From now on everything goes there, beginning with what was recorded and never handed over. */
  setEndpoint(url: string): void {
    this.#endpoint = url
    this.sendDue()
  }

  /** Records the event inside the change that it tells of; `sendDue` hands it over afterwards. */
  record(writer: Writer, { event, repository, number, payload }: WebhookEvent): void {
    const sequence = writer.next('delivery', 1)
    writer.put('delivery', sequence, DUE, {
      sequence,
      guid: guidFrom(this.#random),
      event,
      action: payload.action,
      repository: fullName(repository),
      number,
      redelivery: false,
      payload: JSON.stringify(payload),
      recordedAt: this.#now(),
      result: null,
    })
  }

  /** Starts to send what has no result yet. Without an endpoint it stays recorded. */
  sendDue(): void {
    if (this.#endpoint === undefined || this.#closing.signal.aborted) return
    for (const delivery of this.#store.list('delivery', DUE)) {
      if (this.#underway.has(delivery.sequence)) continue
      const sending = this.#deliver(delivery, this.#endpoint).finally(() => this.#underway.delete(delivery.sequence))
      this.#underway.set(delivery.sequence, sending)
    }
  }

  /** Every attempt so far, oldest first. */
  deliveries(): Delivery[] {
    const all = [...this.#store.list('delivery', ENDED), ...this.#store.list('delivery', DUE)]
    return all.sort((one, other) => one.sequence - other.sequence)
  }

  /** Sends the same bytes under the same id once more, and resolves when that attempt has ended. */
  async redeliver(guid: string): Promise<void> {
    const original = this.deliveries().find((delivery) => delivery.guid === guid)
    if (original === undefined)
      throw new Error(`unknown_delivery: there is no delivery ${guid}. List them with deliveries().`)
    if (this.#endpoint === undefined) {
      throw new Error('webhook_url_missing: there is nowhere to deliver to. Set the webhook URL first.')
    }
    const sequence = this.#store.change((writer) => {
      const next = writer.next('delivery', 1)
      const again: Delivery = { ...original, sequence: next, redelivery: true, recordedAt: this.#now(), result: null }
      writer.put('delivery', next, DUE, again)
      return next
    })
    this.sendDue()
    await this.#underway.get(sequence)
  }

  /** Cuts off what is under way; without a result, it will be sent again by the next process. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#underway.values())
  }

  async #deliver(delivery: Delivery, endpoint: string): Promise<void> {
    const startedAt = performance.now()
    const result = await this.#send(delivery, endpoint)
    if (result === null) return
    const durationMs = Math.round(performance.now() - startedAt)
    this.#store.change((writer) =>
      writer.put('delivery', delivery.sequence, ENDED, { ...delivery, result: { ...result, durationMs } }),
    )
  }

  /** Null if this process is closing before there is a result. */
  async #send(delivery: Delivery, endpoint: string): Promise<Omit<DeliveryResult, 'durationMs'> | null> {
    const deadline = AbortSignal.timeout(ANSWER_DEADLINE_MS)
    const body = Buffer.from(delivery.payload)
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        // A kept connection could be one that the endpoint, started anew, no longer knows.
        headers: { ...this.headersOf(delivery, body), connection: 'close' },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([deadline, this.#closing.signal]),
      })
      const responseBody = (await response.text()).slice(0, ANSWER_CHARACTERS_KEPT_MAX)
      return { status: response.status, reason: response.ok ? 'OK' : `answered ${response.status}`, responseBody }
    } catch (error) {
      if (this.#closing.signal.aborted) return null
      const reason = deadline.aborted
        ? `no answer within ${ANSWER_DEADLINE_MS} ms`
        : `failed to connect: ${messageOf(error)}`
      return { status: null, reason, responseBody: '' }
    }
  }

  /** What a delivery is sent with. */
  headersOf(delivery: Delivery, body = Buffer.from(delivery.payload)): Record<string, string> {
    const signature = (algorithm: string) => createHmac(algorithm, this.#app.webhookSecret).update(body).digest('hex')
    return {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-delivery': delivery.guid,
      'x-github-event': delivery.event,
      'x-github-hook-id': String(HOOK_ID),
      'x-github-hook-installation-target-id': String(this.#app.id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature': `sha1=${signature('sha1')}`,
      'x-hub-signature-256': `sha256=${signature('sha256')}`,
    }
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
