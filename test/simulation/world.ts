/**
 * Muster in the simulated world: every service of its stack, its rooms, and their triggers. Each seed is one history.
 */

import type { RoomName } from '../../infra/rooms.ts'
import type { Failpoint } from '../../shared/base/failpoints.ts'
import { app, appSecret } from './app.ts'
import { newActor } from './kernel/actor.ts'
import type { ColdStart } from './kernel/bundle.ts'
import type { Container, InvocationEnd } from './kernel/container.ts'
import { type Faults, noFaults } from './kernel/faults.ts'
import { type Kernel, openKernel } from './kernel/kernel.ts'
import { randomOf } from './kernel/random.ts'
import type { Timeline } from './kernel/timeline.ts'
import { startQueueSource } from './queue-source.ts'
import { type SimulatedDocuments, simulatedDocuments } from './services/documents.ts'
import { createGitHub, type SimulatedGitHub, type SimulatedWebhook } from './services/github.ts'
import { type MachineWorld, type SimulatedMachine, simulateMachine } from './services/machine.ts'
import { type SimulatedQueues, simulatedQueues } from './services/queues.ts'
import { simulatedSecrets } from './services/secrets.ts'
import type { WireAnswer, WireRequest } from './services/service.ts'
import { type SimulatedTable, simulatedTable, type TablesOptions } from './services/table.ts'
import { type LensBehaviourOf, simulatedLens } from './simulated-lens.ts'
import * as stack from './stack.ts'

export interface WorldOptions {
  readonly seed: number
  readonly coldStart: ColdStart
  readonly lens: LensBehaviourOf
  /** False if nothing reads the trace: the trace then stays empty. */
  readonly traced?: boolean
  /** Fair if absent. */
  readonly weather?: Partial<Weather>
  readonly watcher?: Partial<Watcher>
  /** Variables of the rooms beyond the stack's own. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Faults, and differences between worlds. An absent member means that nothing goes wrong there. */
export interface Weather {
  readonly faults: Faults
  /** ms by which a new container's clock is ahead of the world's. */
  skewMs(): number
  /** True if the event gets a new container although a warm container may be idle. */
  coldStarts(): boolean
  /** ms until a queue's source looks at a visible message. */
  queueDelayMs(): number
  /** True if a queue's source delivers a finished message once more. */
  forgetsMessage(): boolean
  /** ms of Step Functions between the end of a task and the start of the next. */
  transitionMs(): number
  /**
   * ms after which Step Functions takes a call of a function for failed, although the function goes on; undefined
   * without such a fault.
   */
  hearsNothingAfter(): number | undefined
  /** True if Step Functions doesn't learn which invocation died. */
  hidesWhoDied(): boolean
  /** True if the schedule leaves a sweep out. */
  missesSweep(): boolean
  /** The fate of the process at the failpoint; the function's timeout ends a hanging process. */
  fateAt(point: Failpoint): 'goes_on' | 'dies' | 'hangs'
  /** As in TablesOptions. */
  readonly conflicts: NonNullable<TablesOptions['conflicts']>
  readonly indexLag: NonNullable<TablesOptions['indexLag']>
  /** ms from the making of a webhook to each of its deliveries; one delivery as a rule. */
  deliveriesOf(webhook: SimulatedWebhook): readonly number[]
}

/** An observer of the world. An error thrown here ends the simulation: the step rejects with the error. */
export interface Watcher {
  /** Called after each request took effect, with the service's own answer. */
  answered(service: string, request: WireRequest, answer: WireAnswer): void
  logged(room: RoomName, message: string, fields: Readonly<Record<string, unknown>>): void
  /** If a promise is returned, the room goes on once the promise has settled. */
  reached(container: Container, point: Failpoint): Promise<void> | undefined
  ended(container: Container, end: InvocationEnd): void
}

export interface World extends Kernel {
  readonly table: SimulatedTable
  readonly queues: SimulatedQueues
  readonly documents: SimulatedDocuments
  readonly machine: SimulatedMachine
  readonly github: SimulatedGitHub
  /** Lets a person act at GitHub, and sends the webhooks on their way. Resolves when the act is done. */
  act<T>(work: (github: SimulatedGitHub) => Promise<T>): Promise<T>
  /** Hands a webhook to Muster after `delayMs`: a new webhook, or a repeated one. */
  deliver(webhook: SimulatedWebhook, delayMs: number): void
  /** The answer to each webhook so far, oldest first. */
  readonly answers: readonly WebhookAnswer[]
}

export interface WebhookAnswer {
  readonly webhook: SimulatedWebhook
  readonly status: number
  /** JSON */
  readonly body: string
}

/** The world's first moment, ms UTC. */
export const STARTS_AT = Date.UTC(2026, 0, 5, 9)
/** The rate of the sweeper's schedule, ms. */
export const SWEEP_EVERY_MS = 60_000
/** Messages of a queue at work at once, as in infra/nudge-queue.ts. */
const QUEUE_CONCURRENCY = 10
/** Step Functions' error after its own connection to Lambda broke. */
const UNHEARD = { error: 'Lambda.SdkClientException', cause: 'The connection was reset.' }
/** Errors of a crashed container. */
const CRASHES = ['Runtime.ExitError', 'Sandbox.Timedout']
/** The seed's stream for faults of AWS and GitHub themselves. */
const STREAM = 4

/** Opens a world with an empty ledger and a GitHub without repositories; its clock stands until the world is run. */
export function openWorld(options: WorldOptions): World {
  const random = randomOf(options.seed, STREAM)
  const aws = newActor('aws')
  const people = newActor('people')
  const answers: WebhookAnswer[] = []
  const { weather = {}, watcher = {} } = options
  let services: ReturnType<typeof openServices> | undefined

  const kernel = openKernel({
    seed: options.seed,
    startsAt: STARTS_AT,
    traced: options.traced ?? true,
    services: (timeline) => {
      services = openServices(timeline, weather, {
        random: () => random.next(),
        after: (ms, work) => {
          const { cancel } = timeline.after(ms, aws, work)
          return cancel
        },
        invoke: (functionArn, payload, done) => {
          const room = stack.roomOf(functionArn)
          const invoke = () =>
            kernel.functions.invoke(room, JSON.stringify(payload), (end) => done(outcomeOf(end, weather)))
          const givesUpAfter = weather.hearsNothingAfter?.()
          if (givesUpAfter !== undefined) timeline.after(givesUpAfter, aws, () => done(UNHEARD))
          if (weather.transitionMs === undefined) invoke()
          else timeline.after(weather.transitionMs(), aws, invoke)
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
    faults: () => weather.faults ?? noFaults(),
    functions: () => ({
      coldStart: options.coldStart,
      environmentOf: (room) => ({ ...stack.environmentOf(room), ...options.environment }),
      hooksOf: (container) => ({
        lensOf: async (name) => simulatedLens(name, options.lens),
        log(level, message, fields = {}) {
          const { name } = container.actor
          kernel.trace.add(kernel.timeline.now, name, `${level}: ${message} ${JSON.stringify(fields)}`)
          watcher.logged?.(container.room, message, fields as Readonly<Record<string, unknown>>)
        },
        reached: (point) => reached(container, point),
      }),
      skewMs: () => weather.skewMs?.() ?? 0,
      coldStarts: () => weather.coldStarts?.() ?? false,
      ended: (container, end) => watcher.ended?.(container, end),
    }),
    arrived(service, request, answer) {
      if (service === 'github') passOn()
      watcher.answered?.(service, request, answer)
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
      delayMs: () => weather.queueDelayMs?.() ?? random.between(1, 20),
      forgets: () => weather.forgetsMessage?.() ?? false,
    })
  }
  timeline.after(random.below(SWEEP_EVERY_MS), aws, sweep)

  function sweep(): void {
    timeline.after(SWEEP_EVERY_MS, aws, sweep)
    if (weather.missesSweep?.()) return
    functions.invoke('sweep', JSON.stringify({ source: 'aws.scheduler' }), () => undefined)
  }

  /** Undefined lets the room go on; a dead process never goes on. */
  function reached(container: Container, point: Failpoint): Promise<void> | undefined {
    trace.add(timeline.now, container.actor.name, `reached ${point}`)
    const until = watcher.reached?.(container, point)
    const fate = weather.fateAt?.(point) ?? 'goes_on'
    if (fate === 'goes_on') return until
    trace.add(timeline.now, container.actor.name, `${fate} there`)
    if (fate === 'dies') functions.kill(container.actor)
    return new Promise(() => undefined)
  }

  /** GitHub tells its changes by webhooks, in no certain order. */
  function passOn(): void {
    for (const webhook of opened.github.takeWebhooks()) {
      for (const delayMs of weather.deliveriesOf?.(webhook) ?? [random.between(50, 500)]) deliver(webhook, delayMs)
    }
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

/** The state of AWS and GitHub, empty except for the resources of a deployment. */
function openServices(timeline: Timeline, weather: Partial<Weather>, world: Omit<MachineWorld, 'now'>) {
  const now = () => timeline.now
  const { conflicts, indexLag } = weather
  const table = simulatedTable({ now, ...(conflicts ? { conflicts } : {}), ...(indexLag ? { indexLag } : {}) })
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

type Outcome = Parameters<Parameters<MachineWorld['invoke']>[2]>[0]

function outcomeOf(end: InvocationEnd, { hidesWhoDied }: Partial<Weather>): Outcome {
  if (end.kind === 'result') return { ok: JSON.parse(end.json) }
  const { errorType, errorMessage } = end
  if (CRASHES.includes(errorType) && hidesWhoDied?.()) {
    return { error: 'Lambda.Unknown', cause: 'The cause could not be determined.' }
  }
  return { error: errorType, cause: JSON.stringify({ errorType, errorMessage }) }
}

/** API Gateway's event: payload format 2.0, header names in lower case. */
function requestOf({ headers, body }: SimulatedWebhook): object {
  const lowerCased = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { version: '2.0', rawPath: '/github/webhook', headers: lowerCased, body, isBase64Encoded: false }
}

/** A failed function becomes a 500 without details. */
function answerOf(end: InvocationEnd): { readonly status: number; readonly body: string } {
  if (end.kind === 'error') return { status: 500, body: '{}' }
  const { statusCode = 500, body = '{}' } = JSON.parse(end.json) as { statusCode?: number; body?: string }
  return { status: statusCode, body }
}
