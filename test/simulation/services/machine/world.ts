/** What the simulated state machine is given by the world around it. Nothing here may call back within its own call but `invoke`. */
import type { WorldClock } from '../service.ts'

/** How an invocation ended: what the function returned, or the name that Retry and Catch match. */
export type InvocationOutcome = { readonly ok: unknown } | { readonly error: string; readonly cause: string }

/**
 * Everything that is called through it is AWS's own doing: none of it belongs to the actor whose request or answer
 * led to it, and none of it may end with that actor.
 */
export interface MachineWorld {
  readonly now: WorldClock
  /** Calls `fn` in a later event, `ms` from now. Returns how to call it off. */
  after(ms: number, fn: () => void): () => void
  /** From [0, 1), for the jitter of retries. */
  random(): number
  /**
   * Invokes a function. `done` may be called late, more than once, or never: only the first call counts, and only
   * while its task waits. The returned function is called, if at all, when nobody waits any more: what has not begun need
   * not begin, and what runs, runs on.
   */
  invoke(functionArn: string, payload: unknown, done: (outcome: InvocationOutcome) => void): (() => void) | undefined
}
