/**
 * The common shape of simulated services: synchronous, in memory, on a given clock. The wire decides whether and when a
 * request arrives.
 */

/** A request on arrival: header names in lower case, the path with its query. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The whole effect of a request takes place inside the call, so that a request arrives wholly or not at all. */
export interface SimulatedService {
  answer(request: WireRequest): WireAnswer
}

/**
 * A service of asynchronous code that waits for nothing outside itself: microtasks alone settle the answer and the
 * effect. Call the service inside one event, and begin no other event before the microtasks have run; then a request
 * arrives wholly or not at all here too. A rejection means a broken service, never a bad request. (GitHub: github.ts)
 */
export interface SettlingService {
  answerLater(request: WireRequest): Promise<WireAnswer>
}

/** ms UTC of the simulated world. */
export type WorldClock = () => number
