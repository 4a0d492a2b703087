/**
 * An actor is one process of the simulated world, with its own clock and its own end. The async context tells which
 * actor runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Actor {
  readonly name: string
  /** ms by which the actor's clock is ahead of the world's; the actor's timers run at the world's pace. */
  readonly skewMs: number
  /** `frozen`: the actor runs nothing until thawed, like a container between two invocations. */
  state: 'running' | 'frozen' | 'killed'
  /** Request id of the current or last invocation. */
  invocation?: string
  /** ms UTC of the world: until then the process stands still without knowing. */
  pausedUntil?: number
}

/** A process of the simulated world. */
export function newActor(name: string, skewMs = 0): Actor {
  return { name, skewMs, state: 'running' }
}

const current = new AsyncLocalStorage<Actor>()

/** The actor whose code runs; undefined outside the simulated world, as in a test's own code. */
export function currentActor(): Actor | undefined {
  return current.getStore()
}

/** Runs `work`, with all its consequences, as this actor. */
export function actAs<T>(actor: Actor, work: () => T): T {
  return current.run(actor, work)
}
