/** Lambda in the simulated world: the containers of all rooms, warm ones used again, dead ones replaced. */
import type { RoomName } from '../../../infra/rooms.ts'
import { type Actor, newActor } from './actor.ts'
import type { ColdStart, RoomHooks } from './bundle.ts'
import { Container, type InvocationEnd } from './container.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'

export interface FunctionsOptions {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly random: Random
  readonly coldStart: ColdStart
  readonly environmentOf: (room: RoomName) => Readonly<Record<string, string>>
  readonly hooksOf: (container: Container) => RoomHooks
  /** ms by which the clock of a new container is ahead of the world's. */
  readonly skewMs: () => number
  /** True if this event gets a new container although a warm container may be idle. */
  readonly coldStarts: () => boolean
  /** Called when an invocation has ended. */
  readonly ended?: (container: Container, end: InvocationEnd) => void
}

export interface Functions {
  /** Invokes a room; Lambda calls `ended` once. Event and result are JSON text. */
  invoke(room: RoomName, event: string, ended: (end: InvocationEnd) => void): void
  /** Kills this actor's container at once. All remaining containers run on. */
  kill(actor: Actor): void
  /** Live containers. */
  readonly containers: ReadonlySet<Container>
}

/** ms between Lambda and its caller, each way. */
const WAY_MS = 1

/** Starts without containers. */
export function openFunctions(options: FunctionsOptions): Functions {
  const { timeline, trace, random } = options
  const lambda = newActor('lambda')
  const containers = new Set<Container>()
  const started = new Map<RoomName, number>()

  function containerFor(room: RoomName): Container {
    const idle = [...containers].filter((container) => container.room === room && container.idle)
    // Lambda prefers the container that was used last, and at times starts a new one.
    const warm = options.coldStarts() ? undefined : idle.at(-1)
    if (warm) return warm
    const count = (started.get(room) ?? 0) + 1
    started.set(room, count)
    const container: Container = new Container({
      timeline,
      coldStart: options.coldStart,
      room,
      name: `${room}-${count}`,
      environment: options.environmentOf(room),
      hooks: {
        lensOf: (name) => options.hooksOf(container).lensOf(name),
        log: (level, message, fields) => options.hooksOf(container).log(level, message, fields),
        reached: (point) => options.hooksOf(container).reached(point),
      },
      skewMs: options.skewMs(),
    })
    containers.add(container)
    return container
  }

  return {
    containers,
    invoke(room, event, ended) {
      timeline.after(WAY_MS, lambda, () => {
        const container = containerFor(room)
        const { name } = container.actor
        trace.add(timeline.now, name, `is invoked with ${event}`)
        container.invoke(random.uuid(), event, (end) => {
          const what =
            end.kind === 'result' ? `answers ${end.json}` : `fails with ${end.errorType}: ${end.errorMessage}`
          trace.add(timeline.now, name, what)
          options.ended?.(container, end)
          if (container.actor.state === 'killed') containers.delete(container)
          timeline.after(WAY_MS, lambda, () => ended(end))
        })
      })
    },
    kill(actor) {
      const container = [...containers].find((each) => each.actor === actor)
      if (!container) throw new Error(`${actor.name} is no container.`)
      container.kill()
      containers.delete(container)
    },
  }
}
