/** The services that a world gives to the simulated state machine. Only `invoke` may call back within its own call. */
import type { WorldClock } from '../service.ts'

/** The end of an invocation: the function's return value, or the error name that Retry and Catch match. */
export type InvocationOutcome = { readonly ok: unknown } | { readonly error: string; readonly cause: string }

/**
 * Every call through a MachineWorld is AWS's own action: no call belongs to the actor whose request or answer caused
 * the call, and no call may end with that actor.
 */
export interface MachineWorld {
  readonly now: WorldClock
  /** Calls `fn` in a later event, `ms` from now. Returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void
  /** From [0, 1), for the jitter of retries. */
  random(): number
  /**
   * Invokes a function. `done` may be called late, repeatedly or never: only the first call counts, and only while the
   * task waits. The machine calls the returned function, if at all, when the task waits no more: an invocation that
   * hasn't begun need not begin, a running invocation runs on.
   */
  invoke(functionArn: string, payload: unknown, done: (outcome: InvocationOutcome) => void): (() => void) | undefined
}
