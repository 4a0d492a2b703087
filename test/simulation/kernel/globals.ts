/**
 * Gives simulated code its world's clock, timers and randomness. Code outside the simulated world (no actor runs) keeps
 * the real ones, so that a test and its runner are not disturbed.
 */
import nodeCrypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { currentActor } from './actor.ts'
import type { Random } from './random.ts'
import type { Scheduled, Timeline } from './timeline.ts'

const RealDate = Date
const real = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  abortTimeout: AbortSignal.timeout,
  abortAny: AbortSignal.any,
  random: Math.random,
  cryptoRandomUUID: nodeCrypto.randomUUID,
  webRandomUUID: crypto.randomUUID,
  performanceNow: performance.now,
}

/** ms; Node.js replaces a shorter time, or none, by this time. */
const TIMER_MS_MIN = 1

/** Replaces the globals of simulated code. Only one world may be open; the returned function restores everything. */
export function replaceGlobals(timeline: Timeline, random: Random): () => void {
  if (Date !== RealDate) throw new Error('Another world is being simulated in this process.')
  const startedAt = timeline.now
  const nowOf = (skewMs: number) => timeline.now + skewMs

  class SimulatedDate extends RealDate {
    constructor(...parts: unknown[]) {
      const actor = parts.length === 0 ? currentActor() : undefined
      if (actor) super(nowOf(actor.skewMs))
      else super(...(parts as [number]))
    }
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof RealDate
    }
    static override now(): number {
      const actor = currentActor()
      return actor ? nowOf(actor.skewMs) : RealDate.now()
    }
  }
  const uuid = (otherwise: () => ReturnType<typeof nodeCrypto.randomUUID>) =>
    currentActor() ? (random.uuid() as ReturnType<typeof nodeCrypto.randomUUID>) : otherwise()

  globalThis.Date = SimulatedDate as DateConstructor
  globalThis.setTimeout = timerOf(timeline, 'once', real.setTimeout) as typeof setTimeout
  globalThis.setInterval = timerOf(timeline, 'again', real.setInterval) as typeof setInterval
  globalThis.setImmediate = immediateOf(timeline) as typeof setImmediate
  globalThis.clearTimeout = clearing(real.clearTimeout)
  globalThis.clearInterval = clearing(real.clearInterval)
  globalThis.clearImmediate = clearing(real.clearImmediate)
  AbortSignal.timeout = (ms) => (currentActor() ? abortedAfter(ms) : real.abortTimeout.call(AbortSignal, ms))
  AbortSignal.any = (signals) => (currentActor() ? abortedWith([...signals]) : real.abortAny.call(AbortSignal, signals))
  Math.random = () => (currentActor() ? random.next() : real.random())
  performance.now = () => (currentActor() ? timeline.now - startedAt : real.performanceNow.call(performance))
  nodeCrypto.randomUUID = (options) => uuid(() => real.cryptoRandomUUID(options))
  crypto.randomUUID = () => uuid(() => real.webRandomUUID.call(crypto))
  syncBuiltinESMExports()

  return () => {
    globalThis.Date = RealDate
    globalThis.setTimeout = real.setTimeout
    globalThis.setInterval = real.setInterval
    globalThis.setImmediate = real.setImmediate
    globalThis.clearTimeout = real.clearTimeout
    globalThis.clearInterval = real.clearInterval
    globalThis.clearImmediate = real.clearImmediate
    AbortSignal.timeout = real.abortTimeout
    AbortSignal.any = real.abortAny
    Math.random = real.random
    performance.now = real.performanceNow
    nodeCrypto.randomUUID = real.cryptoRandomUUID
    crypto.randomUUID = real.webRandomUUID
    syncBuiltinESMExports()
  }
}

type Callback = (...parameters: unknown[]) => void

/** Like Node.js's timer object. No event loop waits for a virtual timer, so `ref` and `unref` change nothing. */
class VirtualTimer {
  readonly #start: () => Scheduled
  #scheduled: Scheduled

  constructor(start: (timer: VirtualTimer) => Scheduled) {
    this.#start = () => start(this)
    this.#scheduled = this.#start()
  }
  again(): void {
    this.#scheduled = this.#start()
  }
  close(): this {
    this.#scheduled.cancel()
    return this
  }
  refresh(): this {
    this.#scheduled.cancel()
    this.again()
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

function timerOf(timeline: Timeline, how: 'once' | 'again', otherwise: (...all: never[]) => unknown) {
  return (callback: Callback, ms?: number, ...parameters: unknown[]): unknown => {
    const actor = currentActor()
    if (!actor) return otherwise(...([callback, ms, ...parameters] as never[]))
    const delay = Math.max(TIMER_MS_MIN, Math.trunc(ms ?? 0) || 0)
    return new VirtualTimer((timer) =>
      timeline.after(delay, actor, () => {
        if (how === 'again') timer.again()
        callback(...parameters)
      }),
    )
  }
}

function immediateOf(timeline: Timeline) {
  return (callback: Callback, ...parameters: unknown[]): unknown => {
    const actor = currentActor()
    if (!actor) return real.setImmediate(callback, ...parameters)
    return new VirtualTimer(() => timeline.after(0, actor, () => callback(...parameters)))
  }
}

/** Simulated code may clear a real timer, and real code a virtual timer. */
function clearing(otherwise: (timer: never) => void): (timer: unknown) => void {
  return (timer) => {
    if (timer instanceof VirtualTimer) timer.close()
    else otherwise(timer as never)
  }
}

function abortedAfter(ms: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
  return controller.signal
}

/**
 * Node.js keeps an `AbortSignal.any` with waiting listeners until an abort, even if no abort can come any more; whole
 * worlds would stay in memory.
 */
function abortedWith(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason)
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  }
  return controller.signal
}
