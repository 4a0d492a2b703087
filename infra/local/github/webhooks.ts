/**
 * Delivers webhooks as GitHub does: signed over the exact bytes, ten seconds for the answer, no automatic retry. A
 * delivery is recorded together with its change, so that a kill of the process loses none: the next start sends a
 * delivery without a result.
 */
import { createHmac } from 'node:crypto'
import type { AppIdentity } from './authentication.ts'
import { guidFrom, type RandomSource } from './random-source.ts'
import { type Delivery, type DeliveryResult, fullName, type Repository } from './records.ts'
import type { Writer } from './store/access.ts'
import type { Store } from './store/store.ts'

/** The content of a webhook, and its pull request. */
export interface WebhookEvent {
  event: 'pull_request' | 'issue_comment'
  repository: Repository
  number: number
  payload: { action: string }
}

/** "Your server should respond with a 2XX response within 10 seconds": docs.github.com, webhooks, best practices. */
const ANSWER_DEADLINE_MS = 10_000

/** Characters of an answer that are stored for people. */
const ANSWER_CHARACTERS_KEPT_MAX = 4_096

const HOOK_ID = 400_000_001

/**
 * Deliveries without a result are stored apart from the ended deliveries, so that a search costs nothing among many.
 */
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

  /** Sends all deliveries there from now on, the recorded and undelivered ones first. */
  setEndpoint(url: string): void {
    this.#endpoint = url
    this.sendDue()
  }

  /** Records the event inside its change; `sendDue` delivers the event afterwards. */
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

  /** Starts to send deliveries without a result. Without an endpoint they stay recorded. */
  sendDue(): void {
    if (this.#endpoint === undefined || this.#closing.signal.aborted) return
    for (const delivery of this.#store.list('delivery', DUE)) {
      if (this.#underway.has(delivery.sequence)) continue
      const sending = this.#deliver(delivery, this.#endpoint).finally(() => this.#underway.delete(delivery.sequence))
      this.#underway.set(delivery.sequence, sending)
    }
  }

  /** Every attempt until now, oldest first. */
  deliveries(): Delivery[] {
    const all = [...this.#store.list('delivery', ENDED), ...this.#store.list('delivery', DUE)]
    return all.sort((one, other) => one.sequence - other.sequence)
  }

  /** Sends the same bytes under the same id once more, and resolves at the end of that attempt. */
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

  /** Cuts off unfinished deliveries; the next process sends a delivery without a result again. */
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

  /** Null if this process closes before the result. */
  async #send(delivery: Delivery, endpoint: string): Promise<Omit<DeliveryResult, 'durationMs'> | null> {
    const deadline = AbortSignal.timeout(ANSWER_DEADLINE_MS)
    const body = Buffer.from(delivery.payload)
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        // A kept connection could be unknown to a restarted endpoint.
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

  /** The headers of a delivery. */
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
