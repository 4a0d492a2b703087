/**
 * One simulated world: its clock, wire and Lambda, from one seed. The world replaces the real clock, network and Lambda
 * until closed.
 */
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
  /** False if the trace is not needed; true if absent. */
  readonly traced?: boolean
  readonly services: (timeline: Timeline) => Readonly<Record<string, ServiceAt>>
  readonly faults: (random: Random) => Faults
  readonly functions: (random: Random) => Omit<FunctionsOptions, 'timeline' | 'trace' | 'random'>
  /** Called after each request took its effect; an error of `arrived` ends the simulation. */
  readonly arrived?: NonNullable<WireOptions['arrived']>
}

/** A service and its address. */
export interface ServiceAt {
  /** An address: the SDK puts a bucket's name before a host's name, but not before an address. */
  readonly host: string
  /** The SDK's environment variable for the service's address; AWS services only. */
  readonly variable?: string
  readonly service: Service
  /** True if the service's answers must not appear in a trace. */
  readonly isSecret?: boolean
}

export interface Kernel {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly wire: Wire
  readonly functions: Functions
  /** Restores everything real. Work under way never goes on. */
  close(): void
}

/** Streams of the seed: draws for one purpose don't shift draws for another purpose. */
const STREAMS = { world: 1, faults: 2, functions: 3 } as const

/** Opens a world before its first event; only one world may be open in a process. */
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
