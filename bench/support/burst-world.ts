/** A burst of pull requests in the simulated world, until everything is at rest, and the observations. */
import { Retry } from '../../shared/base/errors.ts'
import { allInvariants } from '../../test/simulation/invariants/all.ts'
import { openInvariants } from '../../test/simulation/invariants/observer.ts'
import { slotsInvariant } from '../../test/simulation/invariants/slots.ts'
import type { ColdStart } from '../../test/simulation/kernel/bundle.ts'
import { watchRest } from '../../test/simulation/rest.ts'
import type { Commit } from '../../test/simulation/services/table.ts'
import { viewOf } from '../../test/simulation/view-of.ts'
import { openWorld, type World } from '../../test/simulation/world.ts'
import type { Window, Work } from './burst-ideal.ts'
import { killEvery, readingOf, throttledWindows, unevenLatencies } from './burst-weather.ts'
import { setCeiling, TRANSITION_MS } from './fleet-world.ts'
import { openTransactionConflicts, type TransactionConflicts } from './transaction-conflicts.ts'

export interface BurstOptions {
  readonly coldStart: ColdStart
  readonly pulls: number
  /** Each installation has one repository and its own budget at GitHub. */
  readonly installations: number
  /** The time span of all openings, ms. */
  readonly withinMs: number
  readonly ceiling: number
  /** One working process dies about once in this time, ms. */
  readonly killEveryMs: number
}

export interface Burst {
  /** ms from the first webhook until each run had ended. */
  readonly endedAfter: readonly number[]
  /** Each review's reading once. */
  readonly needed: readonly Work[]
  /** Calls of lenses without throttling; calls beyond `needed` are repeated readings. */
  readonly readings: number
  /** Calls refused by the model. */
  readonly throttled: number
  /** The throttled windows of the model, ms from the first webhook. */
  readonly windows: readonly Window[]
  /** Dead processes, by room. */
  readonly kills: ReadonlyMap<string, number>
  /** ms of held slots, summed over all slots. */
  readonly heldMs: number
  /** ms of the model's closed pool. */
  readonly closedMs: number
  /** Runs by outcome and verdict. */
  readonly outcomes: ReadonlyMap<string, number>
  /** Pull requests by the number of Muster's reviews on each. */
  readonly reviewsShown: ReadonlyMap<number, number>
  /** Content of the installations at GitHub: reviews, submits, comments. */
  readonly created: number
  readonly overlaps: TransactionConflicts
  /** Writes of the fleet item, and among them the writes refused after a change by another writer. */
  readonly fleetWrites: { readonly done: number; readonly refused: number }
  /** Failed invocations, by room and error. */
  readonly errors: ReadonlyMap<string, number>
}

/** One analyzer and one model for each pull request: fewer lenses, for a bench of minutes. */
const CONFIGURATION = 'lenses:\n  workflows: off\n  description: off\n'
/** ms: the wait that a throttled model asks for, and the time until its refusal. */
const RETRY_AFTER_MS = 20_000
const THROTTLE_ANSWER_MS = 200
/** ms that a transaction holds its items. */
export const TRANSACTION_MS = 10
const MINUTE_MS = 60_000
/** The limit in ms of the world. */
const WITHIN_MS = 12 * 60 * MINUTE_MS

/** Resolves when everything is at rest. Rejects with InvariantBroken for a broken invariant. */
export async function runBurst(options: BurstOptions): Promise<Burst> {
  const windows = throttledWindows(WITHIN_MS)
  const needed = new Map<string, Work>()
  const calls = { readings: 0, throttled: 0 }
  const kills = new Map<string, number>()
  const errors = new Map<string, number>()
  const fleetWrites = { done: 0, refused: 0 }
  let startedAt = 0
  let opened: World | undefined
  const world = (): World => {
    if (!opened) throw new Error('The world is not open yet.')
    return opened
  }
  const elapsed = () => world().timeline.now - startedAt
  const overlaps = openTransactionConflicts(() => world().timeline.now, TRANSACTION_MS)

  opened = openWorld({
    seed: 1,
    coldStart: options.coldStart,
    traced: false,
    lens(name, input) {
      const reading = readingOf(name, input)
      needed.set(`${input.pullRequest.title} ${name}`, reading)
      if (reading.isModel && windows.some(({ from, to }) => from <= elapsed() && elapsed() < to)) {
        calls.throttled += 1
        const failure = new Retry('model_throttled', 'Too many requests.', RETRY_AFTER_MS)
        return { durationMs: THROTTLE_ANSWER_MS, failure }
      }
      calls.readings += 1
      return reading
    },
    weather: { faults: unevenLatencies(), transitionMs: () => TRANSITION_MS, conflicts: overlaps.conflicts },
    watcher: {
      answered(service, { headers, body }, { status }) {
        if (service !== 'table' || !body.includes('{"S":"FLEET"}')) return
        if (!/(Put|Update)Item$/.test(headers['x-amz-target'] ?? '')) return
        if (status === 200) fleetWrites.done += 1
        else fleetWrites.refused += 1
      },
      ended({ room }, end) {
        if (end.kind === 'error') add(errors, `${room}: ${end.errorType}`)
      },
    },
  })
  try {
    const repositories = await addRepositories(opened, options.installations)
    await setCeiling(opened, options.ceiling)
    startedAt = opened.timeline.now
    const slots = watchSlots(opened)
    killEvery(opened, options.killEveryMs, (room) => add(kills, room))
    const pulls = await drain(opened, repositories, options)
    const endedAfter = pulls.endedAt.map((at) => at - startedAt)
    return {
      ...calls,
      ...slots,
      ...shownOf(opened, pulls.all),
      endedAfter,
      windows,
      kills,
      overlaps,
      fleetWrites,
      errors,
      needed: [...needed.values()],
    }
  } finally {
    opened.close()
  }
}

interface Pull {
  readonly repository: string
  readonly repositoryId: number
  readonly number: number
}

/** Opens the pull requests and resolves when everything is at rest, with every invariant intact. */
async function drain(
  world: World,
  repositories: readonly Omit<Pull, 'number'>[],
  { pulls, withinMs }: Pick<BurstOptions, 'pulls' | 'withinMs'>,
): Promise<{ readonly all: readonly Pull[]; readonly endedAt: readonly number[] }> {
  const { table, timeline, answers } = world
  const ended = new Map<unknown, number>()
  table.onCommit(({ changes }: Commit) => {
    for (const { key, after } of changes) {
      if (key.sk === 'RUN' && after?.state === 'ended') ended.set(key.pk, timeline.now)
    }
  })
  const rest = watchRest(() => world)
  table.onCommit(rest.committed)
  const all: Pull[] = []
  const history = { pulls: all, cancels: [], canaries: [], crashLoop: false }
  // The bench measures idleness; a check would search thousands of tickets at each change.
  const invariants = { ...allInvariants, I1: [slotsInvariant] }
  const observer = openInvariants(viewOf(world, { history, logs: [] }), invariants)

  const run = (until: number, done: () => boolean = () => false) =>
    timeline.run(until, () => {
      observer.afterStep()
      return done()
    })

  const startedAt = timeline.now
  for (let index = 0; index < pulls; index += 1) {
    await run(startedAt + Math.floor((index * withinMs) / pulls))
    const slot = repositories[index % repositories.length]
    if (!slot) throw new RangeError('Expected at least one installation, got none')
    const files = { 'a.ts': `one\ntwo ${index}\n` }
    const opening = { repository: slot.repository, files, title: `Change ${index}`, body: 'What it is for' }
    const { number } = await world.act((github) => github.open(opening))
    all.push({ ...slot, number })
  }
  // A delivery whose function died is an answer of 5xx, and an operator redelivers it.
  const redelivered = new Set<unknown>()
  while (!(await run(timeline.now + MINUTE_MS, () => ended.size === pulls && rest.isAtRest()))) {
    if (timeline.now > startedAt + WITHIN_MS) throw new Error(`Expected ${pulls} runs to end, got ${ended.size}`)
    for (const { webhook, status } of answers) {
      if (status === 202 || redelivered.has(webhook)) continue
      redelivered.add(webhook)
      world.deliver(webhook, 0)
    }
  }
  observer.atRest()
  return { all, endedAt: [...ended.values()] }
}

/** Keeps counting; the object's numbers end at the fleet's last change. */
function watchSlots({ table, timeline }: World): Pick<Burst, 'heldMs' | 'closedMs'> {
  const counted = { heldMs: 0, closedMs: 0 }
  const now = { held: 0, closed: 0, since: timeline.now }
  table.onCommit(({ changes }: Commit) => {
    const fleet = changes.find(({ key }) => key.sk === 'FLEET')
    if (!fleet) return
    counted.heldMs += now.held * (timeline.now - now.since)
    counted.closedMs += now.closed * (timeline.now - now.since)
    now.held = Object.keys((fleet.after?.slots ?? {}) as object).length
    now.closed = Object.keys((fleet.after?.closed ?? {}) as object).length
    now.since = timeline.now
  })
  return counted
}

function shownOf({ table, github }: World, pulls: readonly Pull[]) {
  const reviewsShown = new Map<number, number>()
  for (const { repository, number } of pulls) {
    add(reviewsShown, github.pullRequest(repository, number).reviews.filter(({ pending }) => !pending).length)
  }
  const outcomes = new Map<string, number>()
  for (const { outcome, verdict } of table.items('RUN#', 'RUN')) add(outcomes, `${outcome} ${verdict}`)
  return { reviewsShown, outcomes, created: github.writes.filter(({ content }) => content).length }
}

async function addRepositories(world: World, count: number): Promise<Omit<Pull, 'number'>[]> {
  const repositories: Omit<Pull, 'number'>[] = []
  for (let index = 0; index < count; index += 1) {
    const owner = `team${index}`
    const files = { 'a.ts': 'one\n', '.github/muster.yml': CONFIGURATION }
    const { id } = await world.act((github) => github.addRepository({ owner, name: 'widgets', files }))
    repositories.push({ repository: `${owner}/widgets`, repositoryId: id })
  }
  return repositories
}

function add<T>(counts: Map<T, number>, what: T): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}
