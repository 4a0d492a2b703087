/** What becomes of a request: decided by a policy for each one, when it is sent. */
import type { WireAnswer, WireRequest } from '../services/service.ts'

/** A request as the policy sees it. */
export interface Sent {
  readonly service: string
  readonly actor: string
  readonly request: WireRequest
}

export interface Fate {
  /** ms on the way there. */
  readonly requestMs: number
  /** ms on the way back. */
  readonly answerMs: number
  /**
   * `request` never arrives; `answer` is lost after the whole effect took place. The connection is reset when the loss
   * happens, or, `silently`, the client hears nothing and has only its own deadline.
   */
  readonly lost?: { readonly what: 'request' | 'answer'; readonly silently: boolean }
  /** Arrives once more after so many ms, as when something on the way repeats it. That answer is heard by nobody. */
  readonly againMs?: number
  /** Answered on the way, by a throttle or a broken proxy: the service never sees it. */
  readonly instead?: WireAnswer
  /** Answered so though the whole effect took place: a proxy that broke after it had passed the request on. */
  readonly afterwards?: WireAnswer
  /** ms for which the sender's process stands still when the answer has come: it goes on with it, and its timers, that much later. */
  readonly pauseMs?: number
  /** The sender dies before the request leaves, or after it arrived and before its answer comes. */
  readonly kill?: 'before' | 'after'
  /** Whether it still arrives if its sender dies while it is on the way. */
  readonly survivesSender: boolean
  /** Keeps it where it is, sent and not on its way, until `goOn` is called, once. Who wrote the order of events decides when. */
  readonly held?: (goOn: () => void) => void
}

export interface Faults {
  fateOf(sent: Sent): Fate
}

/** Every request arrives and is answered, after these times. */
export function noFaults(requestMs = 2, answerMs = 2): Faults {
  const fate: Fate = { requestMs, answerMs, survivesSender: true }
  return { fateOf: () => fate }
}
