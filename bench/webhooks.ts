/**
 * Webhooks that the local stack accepts in a second: signed `opened` events of distinct pull requests, each answered
 * 202 when its run is in the table and its execution is started. The executions wait before their first function, so
 * that the reading of pull requests doesn't take the processor from their acceptance. The peer is an event ignored by
 * its header, which takes the same way through the API and the function and stops before any I/O.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { LocalFunctions } from '../infra/local/functions/functions.ts'
import { sha256 } from '../shared/base/digest.ts'
import type { Bench, Outcome, Workspace } from './measurement.ts'
import { openBenchStack } from './support/bench-stack.ts'

export const webhooks: Bench = {
  name: 'webhooks',
  measures: 'webhooks accepted a second through the local stack, beside events ignored by their header',
  run,
}

/** Rounds of each kind, in turns; this many rounds accept 300 runs. */
const ROUNDS = 6
const WEBHOOKS_PER_ROUND = 50
/** Sent at once. */
const CONCURRENCY = 16
/** GitHub's time limit, ms. */
const ANSWER_MS_MAX = 10_000
const MS_PER_SECOND = 1_000
const MICROSECONDS_PER_MS = 1_000

interface Webhook {
  readonly event: string
  readonly deliveryId: string
  readonly body: string
}

interface Answer {
  readonly status: string
  readonly ms: number
}

/** A kind of webhook, its expected answer, and the measured rounds. */
interface Kind {
  readonly expected: string
  readonly make: (index: number) => Webhook
  readonly perSecond: number[]
  /** Until each answer. */
  readonly ms: number[]
  /** Processor time of the whole process for one webhook, ms. */
  readonly processorMs: number[]
}

async function run(workspace: Workspace): Promise<Outcome> {
  const stack = await openBenchStack(workspace)
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const letGo = parkRuns(stack.local.functions)
  const send = (webhook: Webhook) =>
    post({ agent, url: stack.local.webhookUrl, secret: stack.webhookSecret, signal: workspace.signal }, webhook)
  const kind = (expected: string, make: Kind['make']): Kind => ({
    expected,
    make,
    perSecond: [],
    ms: [],
    processorMs: [],
  })
  const accepted = kind('created', (index) => webhookOf('pull_request', index, 'opened'))
  // The same delivery again: known, with the first delivery's answer.
  const replayed = kind('replayed', (index) => webhookOf('pull_request', index, 'opened'))
  const ignored = kind('ignored', (index) => webhookOf('push', index, 'created'))
  try {
    // Cold starts of all instances, which the bench `cold-start` measures.
    await sendRound(
      kind('ignored', (index) => webhookOf('push', index, 'created')),
      -1,
      send,
    )
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const each of [ignored, accepted, replayed]) await sendRound(each, round, send)
    }
  } finally {
    letGo()
    agent.destroy()
    await stack.close()
  }
  const row = (what: string, unit: string, samples: (of: Kind) => readonly number[], of: Kind) => ({
    what,
    unit,
    samples: samples(of),
    peer: { what: 'ignored', samples: samples(ignored) },
  })
  return {
    measurements: [
      row('accepted', 'a second', ({ perSecond }) => perSecond, accepted),
      row('replayed', 'a second', ({ perSecond }) => perSecond, replayed),
      row('accepted, processor time', 'ms', ({ processorMs }) => processorMs, accepted),
      row('replayed, processor time', 'ms', ({ processorMs }) => processorMs, replayed),
      row('accepted, until answered', 'ms', ({ ms }) => ms, accepted),
      row('replayed, until answered', 'ms', ({ ms }) => ms, replayed),
    ],
    notes: [
      `${ROUNDS} rounds of ${WEBHOOKS_PER_ROUND} of each kind, ${CONCURRENCY} at once, in turns; the sender and all services share one process and its machine.`,
      'Processor time is that of sender, services and function together for one webhook; this time is the same on a busy machine as on an idle one.',
      'Accepted runs wait before Plan. On AWS functions scale with the load: the number shows the code’s cost, not a deployment’s limit.',
    ],
  }
}

/** From now on the state machine's first task never ends: its invocation waits until an abort or the release. */
function parkRuns(functions: LocalFunctions): () => void {
  const invoke = functions.invoke.bind(functions)
  const released = new AbortController()
  functions.invoke = (name, event, signal) => {
    if (!/\bplan$/.test(name)) return invoke(name, event, signal)
    return new Promise((_, reject) => {
      const ends = AbortSignal.any([released.signal, ...(signal ? [signal] : [])])
      ends.addEventListener('abort', () => reject(ends.reason), { once: true })
    })
  }
  return () => released.abort(new Error('The bench is over.'))
}

/** Sends one round with bounded concurrency. Rejects after an unexpected answer. */
async function sendRound(kind: Kind, round: number, send: (webhook: Webhook) => Promise<Answer>): Promise<void> {
  // Made and encoded before the clock starts.
  const waiting = Array.from({ length: WEBHOOKS_PER_ROUND }, (_, index) =>
    kind.make(round * WEBHOOKS_PER_ROUND + index + 1),
  )
  const answers: Answer[] = []
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const worker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) answers.push(await send(next))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  const { user, system } = process.cpuUsage(cpuBefore)
  const seconds = (performance.now() - startedAt) / MS_PER_SECOND
  const wrong = answers.find(({ status }) => status !== kind.expected)
  if (wrong) throw new Error(`Expected every webhook to be answered ${kind.expected}, got ${wrong.status}`)
  kind.perSecond.push(WEBHOOKS_PER_ROUND / seconds)
  kind.processorMs.push((user + system) / MICROSECONDS_PER_MS / WEBHOOKS_PER_ROUND)
  kind.ms.push(...answers.map(({ ms }) => ms))
}

/**
 * The members that Muster reads; a delivery's id follows from its pull request, so that a repeated delivery has the
 * same id.
 */
function webhookOf(event: string, number: number, action: string): Webhook {
  const payload = {
    action,
    number,
    pull_request: {
      title: 'A change',
      body: 'What it is for.',
      draft: false,
      updated_at: '2026-09-23T10:00:00Z',
      head: { ref: 'change', sha: sha256(`head ${number}`).slice(0, 40) },
      base: { ref: 'main' },
    },
    repository: { id: 1, name: 'widgets', owner: { login: 'acme' } },
    installation: { id: 1 },
  }
  const deliveryId = event === 'pull_request' ? sha256(`delivery ${number}`).slice(0, 32) : randomUUID()
  return { event, deliveryId, body: JSON.stringify(payload) }
}

interface Way {
  readonly agent: Agent
  readonly url: string
  readonly secret: string
  readonly signal: AbortSignal
}

function post({ agent, url, secret, signal }: Way, { event, deliveryId, body }: Webhook): Promise<Answer> {
  const startedAt = performance.now()
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': deliveryId,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers, timeout: ANSWER_MS_MAX, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.once('error', reject)
      response.once('end', () => {
        const { status } = JSON.parse(text) as { status?: string }
        resolve({
          status: response.statusCode === 202 ? String(status) : `${response.statusCode} ${text}`,
          ms: performance.now() - startedAt,
        })
      })
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error(`No answer within ${ANSWER_MS_MAX} ms.`)))
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}
