/** One simulated world: its clock, wire and Lambda, from one seed. It takes the place of the real ones until it is closed. */
import type { Actor } from './actor.ts'
import { replaceEnvironment } from './environment.ts'
import type { Faults } from './faults.ts'
import { type Functions, type FunctionsOptions, openFunctions } from './functions.ts'
import { replaceGlobals } from './globals.ts'
import { replaceHttp } from './http.ts'
import { type Random, randomOf } from './random.ts'
import { replaceSigning } from './signing.ts'
import { Timeline } from './timeline.ts'
import { Trace } from './trace.ts'
import { openWire, type Service, type Wire, type WireOptions } from './wire.ts'

export interface KernelOptions {
  readonly seed: number
  /** The world's first moment, ms UTC. */
  readonly startsAt: number
  /** False if nobody will read the trace; true if absent. */
  readonly traced?: boolean
  readonly services: (timeline: Timeline) => Readonly<Record<string, ServiceAt>>
  readonly faults: (random: Random) => Faults
  readonly functions: (random: Random) => Omit<FunctionsOptions, 'timeline' | 'trace' | 'random'>
  /** Called after each request took its effect; what is thrown there ends the simulation. */
  readonly arrived?: NonNullable<WireOptions['arrived']>
}

/** A service and how it is found. */
export interface ServiceAt {
  /** An address: the SDK puts a bucket's name before a host's name, but not before an address. */
  readonly host: string
  /** The variable of the SDK that names it, for those of AWS. */
  readonly variable?: string
  readonly service: Service
  /** True if what it answers belongs in no trace. */
  readonly isSecret?: boolean
}

export interface Kernel {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly wire: Wire
  readonly functions: Functions
  /** Puts everything real back. What is still under way never goes on. */
  close(): void
}

/** Streams of the seed: what is drawn for one purpose doesn't shift what is drawn for another. */
const STREAMS = { world: 1, faults: 2, functions: 3 } as const

/** Opens a world; one at a time in a process. Nothing has happened in it yet. */
export function openKernel(options: KernelOptions): Kernel {
  const timeline = new Timeline(options.startsAt)
  const trace = new Trace(options.startsAt, options.traced ?? true)
  const services = Object.entries(options.services(timeline))
  const random = randomOf(options.seed, STREAMS.functions)
  const functions = openFunctions({ ...options.functions(random), timeline, trace, random })
  const wire = openWire({
    timeline,
    trace,
    faults: options.faults(randomOf(options.seed, STREAMS.faults)),
    services: Object.fromEntries(services.map(([name, at]) => [at.host, { ...at, name }])),
    kill: (actor: Actor) => functions.kill(actor),
    ...(options.arrived ? { arrived: options.arrived } : {}),
  })
  const undo = [
    replaceEnvironment(
      Object.fromEntries(
        services.flatMap(([, { variable, host }]) => (variable ? [[variable, `http://${host}`]] : [])),
      ),
    ),
    replaceGlobals(timeline, randomOf(options.seed, STREAMS.world)),
    replaceHttp(wire),
    replaceSigning(),
  ]
  return {
    timeline,
    trace,
    wire,
    functions,
    close() {
      for (const each of undo) each()
    },
  }
}
