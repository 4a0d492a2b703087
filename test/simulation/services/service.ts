/** What every simulated service is: synchronous, in memory, with the clock that it is given. The wire decides when, and whether, it is asked. */

/** A request as it arrives: header names in lower case, the path with its query. */
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
 * A service made of asynchronous code that waits for nothing outside of it: its answer is settled, and its effect has
 * taken place, by microtasks alone. Ask it inside one event and let no other begin before the microtasks have run; then
 * a request arrives wholly or not at all here too. It rejects only where the service
 * itself is broken, never for what is asked. (GitHub: github.ts)
 */
export interface SettlingService {
  answerLater(request: WireRequest): Promise<WireAnswer>
}

/** ms UTC of the simulated world. */
export type WorldClock = () => number
