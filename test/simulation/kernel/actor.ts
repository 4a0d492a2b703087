/** Who acts: one process of the simulated world, with its own clock and its own end. What runs is attributed by async context. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Actor {
  readonly name: string
  /** ms that its clock is ahead of the world's; its timers run at the world's pace. */
  readonly skewMs: number
  /** `frozen`: nothing of it runs until it is thawed, as a container between two invocations. */
  state: 'running' | 'frozen' | 'killed'
  /** Request id of the invocation that it handles, or handled last. */
  invocation?: string
  /** ms UTC of the world: until then its process stands still, and doesn't know. */
  pausedUntil?: number
}

/** A process of the simulated world. */
export function newActor(name: string, skewMs = 0): Actor {
  return { name, skewMs, state: 'running' }
}

const current = new AsyncLocalStorage<Actor>()

/** The actor whose code runs; undefined outside of the simulated world, as in a test's own code. */
export function currentActor(): Actor | undefined {
  return current.getStore()
}

/** Runs `work`, and everything that follows from it, as this actor. */
export function actAs<T>(actor: Actor, work: () => T): T {
  return current.run(actor, work)
}
