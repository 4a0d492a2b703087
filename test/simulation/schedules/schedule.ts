/**
 * A scripted order of events in the simulated world: the real rooms, some of them stopped at a chosen point until the
 * script lets them go on. Nothing goes wrong by itself, and a sweep comes only when the script asks for a sweep.
 */
import type { RoomName } from '../../../infra/rooms.ts'
import { openInvariants } from '../invariants/observer.ts'
import type { ColdStart } from '../kernel/bundle.ts'
import { type Fate, noFaults, type Sent } from '../kernel/faults.ts'
import { watchRest } from '../rest.ts'
import type { SimulatedGitHub, SimulatedWebhook } from '../services/github.ts'
import type { WireAnswer } from '../services/service.ts'
import { findingAt, type LensBehaviourOf } from '../simulated-lens.ts'
import { viewOf } from '../view-of.ts'
import { openWorld, type World } from '../world.ts'
import { type Held, openPauses, type Paused, type Where } from './pauses.ts'
import { type RequestMatch, writes } from './requests.ts'

export const REPOSITORY = 'acme/widgets'
/** A person with the right to command. */
export const MAINTAINER = 'maria'

export interface ScheduleOptions {
  readonly coldStart: ColdStart
  /** The fleet's limits from the beginning; default limits if absent. */
  readonly limits?: Readonly<Record<string, unknown>>
  /** Active lenses; `correctness` alone if absent, because a run is one review then. */
  readonly lenses?: readonly string[]
  /** 20 s a reading, and a finding in each file, if absent. */
  readonly lens?: LensBehaviourOf
  /** True if Lambda never says which invocation died. */
  readonly hidesWhoDied?: boolean
}

export interface Schedule {
  readonly world: World
  /** Stops the first process that comes to the point from now on. */
  pauseAt(where: Where): Paused
  /** Keeps the next matching request on its way, while its sender goes on. */
  hold(room: RoomName, request: RequestMatch): Held
  /** Answers matching requests on their way with `answer`, until `end` is called. */
  refuse(request: RequestMatch, answer: WireAnswer): Refusing
  /** Opens a pull request with a new file; resolves with its number and head. */
  open(file?: string): Promise<{ readonly number: number; readonly head: string }>
  /** Pushes another commit, in a later second; resolves with the new head. */
  push(number: number, file?: string): Promise<string>
  /** Lets a person act at GitHub. */
  act<T>(work: (github: SimulatedGitHub) => Promise<T> | T): Promise<T>
  /** Lets a person act at GitHub, in a later second; the webhook dies before its first write of an item of the key. */
  lose<T>(work: () => Promise<T>, key?: RegExp): Promise<T>
  /** Asks the API; resolves with the answer. */
  ask(routeKey: string, pathParameters?: Readonly<Record<string, string>>, body?: object): Promise<void>
  /** Asks the API without a wait for the answer. */
  askLater(routeKey: string, pathParameters?: Readonly<Record<string, string>>, body?: object): void
  /** `sweep` resolves at the end of a sweep, `sweepLater` doesn't wait for the end. */
  sweep(): Promise<void>
  sweepLater(): void
  /** Lets time of the world pass, ms. */
  pass(ms: number): Promise<void>
  /** Runs the world until the condition holds; throws after `withinMs` of the world's time. */
  until(what: string, isSo: () => boolean, withinMs?: number): Promise<void>
  /** Delivers a webhook once more, under the same delivery id or another; resolves with the answer. */
  deliver(webhook: SimulatedWebhook, deliveryId?: string): Promise<{ readonly status: number; readonly body: string }>
  /** Sweeps come every minute from now on. */
  letSweep(): void
  /** Sweeps come every minute; runs until the world is at rest, and asks the invariants. */
  rest(): Promise<void>
  /** The run of a head, and its only review; empty before the run exists. */
  run(head: string): Item
  review(head: string): Item
  close(): void
}

export interface Refusing {
  /** Count of refused requests. */
  readonly met: number
  end(): void
}

export type Item = Readonly<Record<string, unknown>>

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
/** ms of the world's time within which an expected event must come. */
const WITHIN_MS = 5 * MINUTE_MS
const REST_WITHIN_MS = 60 * MINUTE_MS
const LENSES = ['secrets', 'workflows', 'description', 'correctness']
const lensByDefault: LensBehaviourOf = (_name, { files }) => ({
  durationMs: 20 * SECOND_MS,
  findings: files.flatMap((file) => findingAt(file)),
})

export async function openSchedule(options: ScheduleOptions): Promise<Schedule> {
  const { coldStart, limits, lenses = ['correctness'], lens = lensByDefault, hidesWhoDied = false } = options
  const pulls: { repository: string; repositoryId: number; number: number }[] = []
  const cancels: { repositoryId: number; number: number }[] = []
  const logs: string[] = []
  let sweeps = false
  let asked = 0
  let repositoryId = 0
  let opened: World | undefined
  const here = (): World => {
    if (!opened) throw new Error('The world is not open yet.')
    return opened
  }
  const pauses = openPauses(here)
  const refusals = new Map<Refusing, (sent: Sent) => WireAnswer | undefined>()
  const calm = noFaults()

  function fateOf(sent: Sent): Fate {
    const fate = pauses.fateOf(sent, calm.fateOf(sent))
    for (const answerTo of refusals.values()) {
      const instead = answerTo(sent)
      if (instead) return { ...fate, instead }
    }
    return fate
  }

  const world = openWorld({
    seed: 1,
    coldStart,
    lens,
    weather: {
      missesSweep: () => !sweeps,
      hidesWhoDied: () => hidesWhoDied,
      faults: { fateOf },
    },
    watcher: {
      reached: (container, point) => pauses.at(container, point),
      answered: (_service, request) => pauses.answered(request),
      logged: (_room, message, fields) => void logs.push(`${message} ${JSON.stringify(fields)}`),
    },
  })
  opened = world
  const { timeline, table } = world
  const rest = watchRest(here)
  table.onCommit(rest.committed)
  const history = { pulls, cancels, canaries: [], crashLoop: false }
  const observer = openInvariants(viewOf(world, { history, logs }))

  async function until(what: string, isSo: () => boolean, withinMs = WITHIN_MS): Promise<void> {
    const isDone = await timeline.run(timeline.now + withinMs, () => {
      observer.afterStep()
      return isSo()
    })
    if (!isDone) throw new Error(`Not within ${withinMs} ms: ${what}.`)
  }

  function invoke(room: RoomName, event: object): { isDone: boolean } {
    const invocation = { isDone: false }
    world.functions.invoke(room, JSON.stringify(event), () => {
      invocation.isDone = true
    })
    return invocation
  }

  function askLater(routeKey: string, pathParameters = {}, body?: object) {
    asked += 1
    if (routeKey === 'POST /runs/{runId}/cancel') cancels.push(...pulls)
    const requestContext = { requestId: `asked-${asked}`, authorizer: { iam: { userArn: 'arn:aws:iam::1:role/olga' } } }
    const request = { version: '2.0', routeKey, pathParameters, headers: {}, body: JSON.stringify(body) }
    return invoke('api', { ...request, requestContext })
  }

  const schedule: Schedule = {
    world,
    pauseAt: pauses.pauseAt,
    hold: pauses.hold,
    refuse(request, answer) {
      const refusing = { met: 0, end: () => void refusals.delete(refusing) }
      refusals.set(refusing, (sent) => {
        if (!request(sent.service, sent.request)) return undefined
        refusing.met += 1
        return answer
      })
      return refusing
    },
    async open(file = 'a.ts') {
      const { number, head } = await world.act((github) =>
        github.open({ repository: REPOSITORY, files: { [file]: 'one\n' }, body: 'What it is for' }),
      )
      pulls.push({ repository: REPOSITORY, repositoryId, number })
      return { number, head }
    },
    async push(number, file = 'b.ts') {
      await schedule.pass(SECOND_MS)
      return world.act((github) => github.push(REPOSITORY, number, { [file]: `${timeline.now}\n` }))
    },
    act: (work) => world.act(async (github) => work(github)),
    async lose(work, key = /^(RUN|PR)#/) {
      await schedule.pass(SECOND_MS)
      const webhook = pauses.pauseAt({ room: 'webhook', before: writes('PutItem', key) })
      const done = await work()
      await webhook.reached()
      webhook.kill()
      return done
    },
    async ask(routeKey, pathParameters, body) {
      const answer = askLater(routeKey, pathParameters, body)
      await until('the API answered', () => answer.isDone)
    },
    askLater,
    async sweep() {
      const swept = invoke('sweep', { source: 'aws.scheduler' })
      await until('the sweep ended', () => swept.isDone)
    },
    sweepLater: () => void invoke('sweep', { source: 'aws.scheduler' }),
    async pass(ms) {
      await timeline.run(timeline.now + ms, () => {
        observer.afterStep()
        return false
      })
    },
    until,
    async deliver(webhook, deliveryId) {
      const { headers } = webhook
      const id = Object.keys(headers).find((name) => name.toLowerCase() === 'x-github-delivery') ?? ''
      const before = world.answers.length
      world.deliver(deliveryId === undefined ? webhook : { ...webhook, headers: { ...headers, [id]: deliveryId } }, 0)
      await until('the delivery was answered', () => world.answers.length > before)
      const { status = 0, body = '' } = world.answers.at(-1) ?? {}
      return { status, body }
    },
    letSweep() {
      sweeps = true
    },
    async rest() {
      schedule.letSweep()
      await until('at rest', rest.isAtRest, REST_WITHIN_MS)
      observer.atRest()
    },
    run: (head) => only(table.items('RUN#', 'RUN').filter((run) => run.head === head)),
    review(head) {
      const { pk = 'none' } = schedule.run(head)
      return only(table.items(String(pk), 'REVIEW#').filter(({ lens: name }) => name !== 'adjudication'))
    },
    close: () => world.close(),
  }

  const states = LENSES.map((name) => `  ${name}: ${lenses.includes(name) ? 'active' : 'off'}`)
  const configuration = ['lenses:', ...states, ''].join('\n')
  repositoryId = await world.act(async (github) => {
    const files = { 'README.md': 'Widgets\n', '.github/muster.yml': configuration }
    const { id } = await github.addRepository({ owner: 'acme', name: 'widgets', files })
    github.setPermission(REPOSITORY, MAINTAINER, 'write')
    return id
  })
  if (limits) await schedule.ask('PATCH /fleet/limits', {}, limits)
  return schedule
}

/** Empty if no item exists yet. */
function only(items: readonly Item[]): Item {
  const [item = {}, ...more] = items
  if (more.length > 0) throw new Error(`Expected one item, found ${items.length}.`)
  return item
}
