/** The trouble of a burst: a model throttled for a third of the time, slow requests, dying workers. */
import { LENS_NAMES, LENSES, type LensInput, type LensName } from '../../shared/findings/lens.ts'
import { newActor } from '../../test/simulation/kernel/actor.ts'
import type { Faults } from '../../test/simulation/kernel/faults.ts'
import { randomOf } from '../../test/simulation/kernel/random.ts'
import type { World } from '../../test/simulation/world.ts'
import type { Window, Work } from './burst-ideal.ts'
import { ROUND_TRIP_MS } from './fleet-world.ts'

/** ms of a reading. */
const MODEL_READING_MS = { from: 30_000, to: 90_000 } as const
const ANALYZER_READING_MS = { from: 500, to: 2_000 } as const
/** ms of a throttled window of the model; the pause after a window is twice as long. */
const THROTTLED_MS = { from: 60_000, to: 180_000 } as const
/** ms until the first throttled window. */
const FIRST_THROTTLED_MS = 60_000
/** The last ten workers are left alone: otherwise the last workers would die again and again. */
const WORKERS_LEFT_MIN = 10
const STREAMS = { windows: 300, way: 301, killer: 302, readings: 303 } as const
const SEED = 1

/**
 * The same review takes the same time, however often the lens reads it. The number in a pull request's title identifies
 * the pull request.
 */
export function readingOf(name: LensName, { pullRequest }: LensInput): Work {
  const isModel = LENSES[name].kind === 'model'
  const { from, to } = isModel ? MODEL_READING_MS : ANALYZER_READING_MS
  const pull = Number(pullRequest.title.split(' ')[1])
  const lens = LENS_NAMES.indexOf(name)
  return { pull, isModel, durationMs: randomOf(pull, STREAMS.readings + lens).between(from, to) }
}

/**
 * Latencies alone, each drawn between half and one and a half of the usual latency; otherwise all processes would keep
 * step.
 */
export function unevenLatencies(): Faults {
  const random = randomOf(SEED, STREAMS.way)
  return {
    fateOf({ service }) {
      const way = (ROUND_TRIP_MS[service] ?? 0) / 2
      return { requestMs: way * (0.5 + random.next()), answerMs: way * (0.5 + random.next()), survivesSender: true }
    },
  }
}

/** Throttled windows for a third of the time before `untilMs`. */
export function throttledWindows(untilMs: number): Window[] {
  const random = randomOf(SEED, STREAMS.windows)
  const windows: Window[] = []
  let at = FIRST_THROTTLED_MS
  while (at < untilMs) {
    const lengthMs = random.between(THROTTLED_MS.from, THROTTLED_MS.to)
    windows.push({ from: at, to: at + lengthMs })
    at += 3 * lengthMs
  }
  return windows
}

/** A working process dies about every `everyMs`, whatever the work. `died` gets the name of the room. */
export function killEvery(world: World, everyMs: number, died: (room: string) => void): void {
  const random = randomOf(SEED, STREAMS.killer)
  const killer = newActor('killer')
  const kill = () => {
    world.timeline.after(everyMs * (0.5 + random.next()), killer, kill)
    const busy = [...world.functions.containers].filter(({ idle }) => !idle)
    if (busy.length < WORKERS_LEFT_MIN) return
    const { actor, room } = random.pick(busy)
    world.functions.kill(actor)
    died(room)
  }
  world.timeline.after(everyMs, killer, kill)
}
