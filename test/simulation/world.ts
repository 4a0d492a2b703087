/** Muster in the simulated world: every service of its stack, its rooms, and what sets them going. One seed, one history. */
import { app, appSecret } from './app.ts'
import { newActor } from './kernel/actor.ts'
import type { ColdStart } from './kernel/bundle.ts'
import type { InvocationEnd } from './kernel/container.ts'
import { type Faults, noFaults } from './kernel/faults.ts'
import { type Kernel, openKernel } from './kernel/kernel.ts'
import { type Random, randomOf } from './kernel/random.ts'
import type { Timeline } from './kernel/timeline.ts'
import { startQueueSource } from './queue-source.ts'
import { type SimulatedDocuments, simulatedDocuments } from './services/documents.ts'
import { createGitHub, type SimulatedGitHub, type SimulatedWebhook } from './services/github.ts'
import { type MachineWorld, type SimulatedMachine, simulateMachine } from './services/machine.ts'
import { type SimulatedQueues, simulatedQueues } from './services/queues.ts'
import { simulatedSecrets } from './services/secrets.ts'
import { type SimulatedTable, simulatedTable } from './services/table.ts'
import { type LensBehaviourOf, simulatedLens } from './simulated-lens.ts'
import * as stack from './stack.ts'

export interface WorldOptions {
  readonly seed: number
  readonly coldStart: ColdStart
  /** None if absent: everything arrives and is answered. */
  readonly faults?: (random: Random) => Faults
  readonly lens: LensBehaviourOf
  /** ms that the clock of a new container is ahead of the world's; 0 if absent. */
  readonly skewMs?: (random: Random) => number
  /** How likely an event gets a new container although a warm one is idle; 0 if absent. */
  readonly coldStartChance?: number
  /** How likely a queue's source delivers what was done once more; 0 if absent. */
  readonly redeliveryChance?: number
  /** Called after each request took its effect; what it throws, the step rejects with. */
  readonly arrived?: (service: string) => void
}

export interface World extends Kernel {
  readonly table: SimulatedTable
  readonly queues: SimulatedQueues
  readonly documents: SimulatedDocuments
  readonly machine: SimulatedMachine
  readonly github: SimulatedGitHub
  /** Somebody does something at GitHub, whose webhooks are then on their way. Resolves when it is done. */
  act<T>(work: (github: SimulatedGitHub) => Promise<T>): Promise<T>
  /** Hands a webhook to Muster after `delayMs`: a new one, or once more. */
  deliver(webhook: SimulatedWebhook, delayMs: number): void
  /** What was answered to each webhook so far, oldest first. */
  readonly answers: readonly WebhookAnswer[]
}

export interface WebhookAnswer {
  readonly webhook: SimulatedWebhook
  readonly status: number
  /** JSON */
  readonly body: string
}

/** The world's first moment, ms UTC. */
const STARTS_AT = Date.UTC(2026, 0, 5, 9)
/** The rate of the sweeper's schedule, ms. */
const SWEEP_EVERY_MS = 60_000
/** Messages of a queue that are worked on at once: infra/nudge-queue.ts. */
const QUEUE_CONCURRENCY = 10
/** The seed's stream for what AWS and GitHub do by themselves. */
const STREAM = 4

/** Opens a world with an empty ledger and a GitHub without repositories; its clock stands until it is run. */
export function openWorld(options: WorldOptions): World {
  const random = randomOf(options.seed, STREAM)
  const aws = newActor('aws')
  const people = newActor('people')
  const answers: WebhookAnswer[] = []
  let services: ReturnType<typeof openServices> | undefined

  const kernel = openKernel({
    seed: options.seed,
    startsAt: STARTS_AT,
    services: (timeline) => {
      services = openServices(timeline, {
        random: () => random.next(),
        after: (ms, work) => {
          const { cancel } = timeline.after(ms, aws, work)
          return cancel
        },
        invoke: (functionArn, payload, done) => {
          kernel.functions.invoke(stack.roomOf(functionArn), JSON.stringify(payload), (end) => done(outcomeOf(end)))
          return undefined
        },
      })
      return {
        table: { host: stack.hosts.table, variable: 'AWS_ENDPOINT_URL_DYNAMODB', service: services.table },
        documents: { host: stack.hosts.documents, variable: 'AWS_ENDPOINT_URL_S3', service: services.documents },
        queues: { host: stack.hosts.queues, variable: 'AWS_ENDPOINT_URL_SQS', service: services.queues },
        machine: { host: stack.hosts.machine, variable: 'AWS_ENDPOINT_URL_SFN', service: services.machine },
        secrets: {
          host: stack.hosts.secrets,
          variable: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
          service: services.secrets,
          isSecret: true,
        },
        github: { host: stack.hosts.github, service: services.github },
      }
    },
    faults: options.faults ?? (() => noFaults()),
    functions: (functionsRandom) => ({
      coldStart: options.coldStart,
      environmentOf: stack.environmentOf,
      hooksOf: ({ actor }) => ({
        lensOf: async (name) => simulatedLens(name, options.lens),
        log: (level, message, fields) =>
          kernel.trace.add(kernel.timeline.now, actor.name, `${level}: ${message} ${JSON.stringify(fields ?? {})}`),
        reached: () => undefined,
      }),
      skewMs: () => options.skewMs?.(functionsRandom) ?? 0,
      coldStartChance: options.coldStartChance ?? 0,
    }),
    arrived(service) {
      if (service === 'github') passOn()
      options.arrived?.(service)
    },
  })
  if (!services) throw new Error('The kernel asked for no services.')
  const opened = services
  const { timeline, trace, functions } = kernel

  for (const { name, consumer } of Object.values(stack.queues)) {
    startQueueSource({
      timeline,
      trace,
      functions,
      queues: opened.queues,
      queue: name,
      consumer,
      concurrencyMax: QUEUE_CONCURRENCY,
      delayMs: () => random.between(1, 20),
      forgets: () => random.chance(options.redeliveryChance ?? 0),
    })
  }
  timeline.after(random.below(SWEEP_EVERY_MS), aws, sweep)

  function sweep(): void {
    timeline.after(SWEEP_EVERY_MS, aws, sweep)
    functions.invoke('sweep', JSON.stringify({ source: 'aws.scheduler' }), () => undefined)
  }

  /** What happened at GitHub is told by webhooks, in no certain order. */
  function passOn(): void {
    for (const webhook of opened.github.takeWebhooks()) deliver(webhook, random.between(50, 500))
  }

  function deliver(webhook: SimulatedWebhook, delayMs: number): void {
    timeline.after(delayMs, people, () => {
      functions.invoke('webhook', JSON.stringify(requestOf(webhook)), (end) => {
        answers.push({ webhook, ...answerOf(end) })
      })
    })
  }

  return {
    ...kernel,
    table: opened.table,
    queues: opened.queues,
    documents: opened.documents,
    machine: opened.machine,
    github: opened.github,
    answers,
    deliver,
    async act<T>(work: (github: SimulatedGitHub) => Promise<T>) {
      let done: { readonly value: T } | undefined
      timeline.after(0, people, () => {
        work(opened.github).then(
          (value) => {
            done = { value }
            passOn()
          },
          (error) => timeline.fail(error),
        )
      })
      await timeline.run(timeline.now, () => done !== undefined)
      if (!done) throw new Error('What people do at GitHub takes no time, but was not done.')
      return done.value
    },
  }
}

/** All of AWS's and GitHub's state, empty but for what a deployment puts there. */
function openServices(timeline: Timeline, world: Omit<MachineWorld, 'now'>) {
  const now = () => timeline.now
  const table = simulatedTable({ now })
  table.create(stack.createTable)
  const queues = simulatedQueues({ now })
  for (const { name, deadLetters, attributes } of Object.values(stack.queues)) {
    queues.create(deadLetters, { FifoQueue: 'true' })
    queues.create(name, attributes)
  }
  const secrets = simulatedSecrets({ now })
  secrets.put(stack.secretNames.app, appSecret)
  secrets.put(stack.secretNames.models, JSON.stringify({ apiKey: 'simulated' }))
  return {
    table,
    queues,
    secrets,
    documents: simulatedDocuments({ now, bucket: stack.bucketName }),
    machine: simulateMachine({ machineArn: stack.machineArn, program: stack.program, world: { now, ...world } }),
    github: createGitHub({ app, now, url: stack.githubUrl }),
  }
}

function outcomeOf(end: InvocationEnd): Parameters<Parameters<MachineWorld['invoke']>[2]>[0] {
  return end.kind === 'result'
    ? { ok: JSON.parse(end.json) }
    : { error: end.errorType, cause: JSON.stringify({ errorType: end.errorType, errorMessage: end.errorMessage }) }
}

/** As API Gateway makes it: payload format 2.0, header names in lower case. */
function requestOf({ headers, body }: SimulatedWebhook): object {
  const lowerCased = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { version: '2.0', rawPath: '/github/webhook', headers: lowerCased, body, isBase64Encoded: false }
}

/** A function that fails is a 500 that says nothing of it. */
function answerOf(end: InvocationEnd): { readonly status: number; readonly body: string } {
  if (end.kind === 'error') return { status: 500, body: '{}' }
  const { statusCode = 500, body = '{}' } = JSON.parse(end.json) as { statusCode?: number; body?: string }
  return { status: statusCode, body }
}
