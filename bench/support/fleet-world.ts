/** Muster's fleet in virtual time: runs whose lenses take drawn times, in the simulated world, with the latencies of AWS. */
import type { ColdStart } from '../../test/simulation/kernel/bundle.ts'
import type { Faults } from '../../test/simulation/kernel/faults.ts'
import { randomOf } from '../../test/simulation/kernel/random.ts'
import { openWorld, type World } from '../../test/simulation/world.ts'
import type { Reading, Readings } from './readings.ts'

/** ms of a request and its answer together, by service; a near service in one region takes a few. */
export const ROUND_TRIP_MS: Readonly<Record<string, number>> = {
  table: 6,
  documents: 30,
  machine: 20,
  queues: 12,
  secrets: 12,
  github: 120,
}
/** ms of Step Functions between the end of one task and the start of the next, with a choice between them. */
export const TRANSITION_MS = 100
/** ms */
const READING_MS = { from: 20_000, to: 200_000 } as const
/** Analyzers that read every change, with one review each: secrets, workflows, description. */
const ANALYZERS = 3
/** Lines of a new file: too many for two files in one part. */
const LINES = 751
/** The limit in ms of the world. */
const WITHIN_MS = 12 * 3_600_000

export interface FleetRun extends Readings {
  readonly world: World
}

export interface FleetOptions {
  readonly coldStart: ColdStart
  /** Concurrent pull requests, each with its own execution. */
  readonly executions: number
  /** At most 40. */
  readonly reviewsEach: number
  readonly ceiling: number
  readonly transitionMs: number
  /** ms of each reading; `readingTimes` draws the times if absent. */
  readonly readingMs?: () => number
  /** ms of a request and its answer, to any service; ROUND_TRIP_MS if absent. */
  readonly roundTripMs?: number
  /** True: no sweep each minute; the sweep finds nothing to do here. */
  readonly withoutSweeps?: boolean
  /** Called before any other event. */
  readonly prepared?: (world: World) => void
}

/** Times of readings, drawn by the seed; the n-th reading to begin takes the n-th time. */
export function readingTimes(): () => number {
  const random = randomOf(1, 200)
  return () => random.between(READING_MS.from, READING_MS.to)
}

/** Latencies alone; nothing goes wrong. */
export function latencies(roundTripMs?: number): Faults {
  return {
    fateOf({ service }) {
      const way = (roundTripMs ?? ROUND_TRIP_MS[service] ?? 0) / 2
      return { requestMs: way, answerMs: way, survivesSender: true }
    },
  }
}

/** Opens the pull requests and resolves when all of their runs have ended; the caller closes the world. */
export async function runFleet(options: FleetOptions): Promise<FleetRun> {
  const { coldStart, executions, reviewsEach, ceiling, transitionMs } = options
  const readings: Reading[] = []
  const nextMs = options.readingMs ?? readingTimes()
  const world = openWorld({
    seed: 1,
    coldStart,
    traced: false,
    lens: () => {
      const durationMs = nextMs()
      readings.push({ from: world.timeline.now, to: world.timeline.now + durationMs })
      return { durationMs }
    },
    weather: {
      faults: latencies(options.roundTripMs),
      transitionMs: () => transitionMs,
      missesSweep: () => options.withoutSweeps ?? false,
    },
  })
  options.prepared?.(world)
  const outcomes = new Map<string, unknown>()
  world.table.onCommit(({ changes }) => {
    for (const { key, after } of changes) if (key.sk === 'RUN') outcomes.set(String(key.pk), after?.outcome)
  })
  const repository = 'acme/widgets'
  await world.act((github) =>
    github.addRepository({ owner: 'acme', name: 'widgets', files: { 'README.md': 'Widgets\n' } }),
  )
  await setCeiling(world, ceiling)
  const startedAt = world.timeline.now
  const files = filesOf(reviewsEach - ANALYZERS)
  for (let index = 0; index < executions; index += 1) {
    await world.act((github) => github.open({ repository, files, title: `Change ${index}`, body: 'What it is for' }))
  }
  const reviewed = () => [...outcomes.values()].filter((outcome) => outcome === 'reviewed').length
  const isRunning = () => world.machine.executions().some(({ status }) => status === 'RUNNING')
  const isDone = await world.timeline.run(
    startedAt + WITHIN_MS,
    () => reviewed() === executions && !isRunning() && readings.length === executions * reviewsEach,
  )
  if (!isDone) {
    world.close()
    throw new Error(`Expected ${executions} runs to be reviewed, got ${[...outcomes.values()].join(', ')}`)
  }
  return { world, readings, startedAt }
}

/** Sets the fleet's ceiling through the API, as an operator does. */
export async function setCeiling(world: World, configured: number): Promise<void> {
  let done = false
  const request = { version: '2.0', routeKey: 'PATCH /fleet/limits', headers: {}, body: JSON.stringify({ configured }) }
  world.functions.invoke('api', JSON.stringify(request), () => {
    done = true
  })
  await world.timeline.run(world.timeline.now + 10_000, () => done)
}

function filesOf(count: number): Readonly<Record<string, string>> {
  const text = Array.from({ length: LINES }, (_, line) => `${line}\n`).join('')
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`src/module${index}.ts`, text]))
}
