/** A world of time alone, for tests of the machine alone. */
import type { MachineWorld } from './machine.ts'

interface Event {
  readonly at: number
  readonly fn: () => void
}

/** 2026-01-01T00:00:00Z, ms UTC. */
const beginning = Date.UTC(2026, 0, 1)

export class EventQueue implements Pick<MachineWorld, 'now' | 'after'> {
  #now = beginning
  readonly #events = new Set<Event>()

  readonly now = (): number => this.#now

  after(ms: number, fn: () => void): () => void {
    const event = { at: this.#now + ms, fn }
    this.#events.add(event)
    return () => this.#events.delete(event)
  }

  /** ms since the beginning. */
  get elapsedMs(): number {
    return this.#now - beginning
  }

  /** The number of future events. */
  get waiting(): number {
    return this.#events.size
  }

  /** Runs all events up to `elapsedMsMax` since the beginning, in order of time and then of scheduling. */
  run(elapsedMsMax = Number.POSITIVE_INFINITY): void {
    for (;;) {
      let next: Event | undefined
      for (const event of this.#events) if (!next || event.at < next.at) next = event
      if (!next || next.at > beginning + elapsedMsMax) break
      this.#events.delete(next)
      this.#now = next.at
      next.fn()
    }
    if (Number.isFinite(elapsedMsMax)) this.#now = Math.max(this.#now, beginning + elapsedMsMax)
  }
}
