/** Virtual time: events in order, one at a time, each followed until only another event can cause anything. */
import { type Actor, actAs } from './actor.ts'

export interface Scheduled {
  /** Cancels the event. Repeatable. */
  cancel(): void
}

interface Event {
  at: number
  order: number
  readonly actor: Actor
  readonly work: () => void
  cancelled: boolean
}

/** Kept before the kernel replaces the global. */
const realSetImmediate = setImmediate

export class Timeline {
  #now: number
  #order = 0
  readonly #heap: Event[] = []
  readonly #frozen = new Map<Actor, Event[]>()
  #failure: { readonly cause: unknown } | undefined

  /** `startsAt` in ms UTC. */
  constructor(startsAt: number) {
    this.#now = startsAt
  }

  /** ms UTC of the world; an actor's own clock may differ. */
  get now(): number {
    return this.#now
  }

  /** Schedules `work` as this actor after `ms`. Events of equal time run in order of scheduling. */
  after(ms: number, actor: Actor, work: () => void): Scheduled {
    this.#order += 1
    const event: Event = { at: this.#now + Math.max(0, ms), order: this.#order, actor, work, cancelled: false }
    push(this.#heap, event)
    return {
      cancel() {
        event.cancelled = true
      },
    }
  }

  /** The actor's process stands still for `ms`: its events run afterwards, in the same order. */
  pause(actor: Actor, ms: number): void {
    actor.pausedUntil = this.#now + ms
  }

  /** Runs the events that came while the actor was frozen. */
  thaw(actor: Actor): void {
    actor.state = 'running'
    const waiting = this.#frozen.get(actor) ?? []
    this.#frozen.delete(actor)
    for (const { work, cancelled } of waiting) if (!cancelled) this.after(0, actor, work)
  }

  /** Cancels all events of this actor. */
  kill(actor: Actor): void {
    actor.state = 'killed'
    this.#frozen.delete(actor)
  }

  /** The time of the next event, ms UTC; undefined if no event is left. */
  get nextAt(): number | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      const isLate = first.at < (first.actor.pausedUntil ?? 0)
      if (!first.cancelled && first.actor.state === 'running' && !isLate) return first.at
      pop(this.#heap)
      if (!first.cancelled && first.actor.state === 'running') this.#putOff(first)
      if (!first.cancelled && first.actor.state === 'frozen') {
        const waiting = this.#frozen.get(first.actor)
        if (waiting) waiting.push(first)
        else this.#frozen.set(first.actor, [first])
      }
    }
    return undefined
  }

  /** Behind earlier postponed events, to keep the order. */
  #putOff(event: Event): void {
    this.#order += 1
    event.at = event.actor.pausedUntil ?? event.at
    event.order = this.#order
    push(this.#heap, event)
  }

  /** Reports a broken simulation or a broken invariant: the current step rejects with `cause`. */
  fail(cause: unknown): void {
    this.#failure ??= { cause }
  }

  /** Runs the next event with all consequences that need no further event. Resolves with false if no event is left. */
  async step(): Promise<boolean> {
    if (this.nextAt === undefined) return false
    const event = pop(this.#heap)
    if (event === undefined) return false
    this.#now = Math.max(this.#now, event.at)
    actAs(event.actor, event.work)
    await settled()
    if (this.#failure) throw this.#failure.cause
    return true
  }

  /** Steps until `done`, until `until` (ms UTC), or until no event is left. Resolves with whether `done` holds. */
  async run(until: number, done: () => boolean = () => false): Promise<boolean> {
    while (!done()) {
      const next = this.nextAt
      if (next === undefined || next > until) {
        this.#now = Math.max(this.#now, until)
        return done()
      }
      await this.step()
    }
    return true
  }
}

/**
 * All microtasks and ticks have run by the next turn of the event loop, as simulated code never waits for input or
 * output.
 */
export function settled(): Promise<void> {
  return new Promise((resolve) => realSetImmediate(resolve))
}

function isBefore(left: Event, right: Event): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order)
}

/** A binary heap with the next event first. */
function push(heap: Event[], event: Event): void {
  let index = heap.push(event) - 1
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent] as Event
    if (!isBefore(event, above)) break
    heap[index] = above
    index = parent
  }
  heap[index] = event
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let index = 0
  for (;;) {
    let child = 2 * index + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1
    if (!isBefore(heap[child] as Event, last)) break
    heap[index] = heap[child] as Event
    index = child
  }
  heap[index] = last
  return first
}
