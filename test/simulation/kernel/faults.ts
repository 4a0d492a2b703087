/** The fate of a request: a policy decides each request's fate when the request is sent. */
import type { WireAnswer, WireRequest } from '../services/service.ts'

/** A request as the policy sees it. */
export interface Sent {
  readonly service: string
  readonly actor: string
  readonly request: WireRequest
}

export interface Fate {
  /** ms from the sender to the service. */
  readonly requestMs: number
  /** ms from the service to the sender. */
  readonly answerMs: number
  /**
   * `request` never arrives; `answer` is lost after the whole effect took place. The loss resets the connection, or,
   * `silently`, the client hears nothing and has only its own deadline.
   */
  readonly lost?: { readonly what: 'request' | 'answer'; readonly silently: boolean }
  /** The request arrives again after this many ms, as if repeated by the network. No client hears the second answer. */
  readonly againMs?: number
  /** A throttle or a broken proxy answers on the way; the request never reaches the service. */
  readonly instead?: WireAnswer
  /** The answer of a proxy that broke after passing the request on; the whole effect took place. */
  readonly afterwards?: WireAnswer
  /**
   * ms for which the sender's process stands still after the answer has come; process and timers go on late by this
   * time.
   */
  readonly pauseMs?: number
  /** The sender dies before the request leaves, or after the request's arrival and before the answer. */
  readonly kill?: 'before' | 'after'
  /** Whether the request still arrives if the sender dies while the request is on the way. */
  readonly survivesSender: boolean
  /** Holds the request after sending until `goOn` is called, once. The author of a schedule calls `goOn`. */
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
