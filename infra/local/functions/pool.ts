/** The warm instances of one function, and the waiting calls, first come, first served. */
import { randomUUID } from 'node:crypto'
import { FunctionError } from './function-error.ts'
import { Instance, type LocalFunction } from './instance.ts'

interface Call {
  readonly event: string
  readonly resolve: (body: string) => void
  readonly reject: (error: unknown) => void
}

/** Ms that an instance stays without work. Longer than the pauses inside a run; an instance holds 20 to 35 MB. */
const idleMs = 20_000

/** Calls that may wait for an instance. Lambda lets none wait; here a burst must neither fail nor grow without end. */
const waitingMax = 1_000

export class Pool {
  readonly #function: LocalFunction
  readonly #onLine: (line: string) => void
  readonly #instances = new Set<Instance>()
  /** Instances without work, and the timers that end them; the last used instance comes last. */
  readonly #idle = new Map<Instance, NodeJS.Timeout>()
  readonly #waiting = new Set<Call>()
  #closed = false
  coldStarts = 0

  constructor(local: LocalFunction, onLine: (line: string) => void) {
    this.#function = local
    this.#onLine = onLine
  }

  /** JSON text in and out. An aborted call stops waiting; an event at its handler continues. */
  invoke(event: string, signal: AbortSignal | undefined): Promise<string> {
    signal?.throwIfAborted()
    if (this.#closed) throw new FunctionError('Lambda.ServiceException', 'The local runtime is closed. Start it again.')
    if (this.#waiting.size >= waitingMax) {
      throw new FunctionError('Lambda.TooManyRequestsException', `${waitingMax} calls are waiting. Try again later.`)
    }
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.delete(call)
        reject(signal?.reason)
      }
      const call: Call = {
        event,
        resolve(body) {
          signal?.removeEventListener('abort', abort)
          resolve(body)
        },
        reject(error) {
          signal?.removeEventListener('abort', abort)
          reject(error)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.add(call)
      this.#assign()
    })
  }

  /** Ends all instances at once. Events at work and waiting calls reject. */
  async close(): Promise<void> {
    this.#closed = true
    for (const call of this.#waiting) {
      call.reject(new FunctionError('Lambda.ServiceException', 'The local runtime was closed. Start it again.'))
    }
    this.#waiting.clear()
    for (const timer of this.#idle.values()) clearTimeout(timer)
    this.#idle.clear()
    await Promise.all([...this.#instances].map((instance) => instance.end()))
  }

  #assign(): void {
    for (const call of this.#waiting) {
      const instance = this.#closed ? undefined : (this.#takeIdle() ?? this.#coldStart())
      if (!instance) return
      this.#waiting.delete(call)
      this.#handle(instance, call)
    }
  }

  #handle(instance: Instance, call: Call): void {
    instance.invoke(randomUUID(), call.event).then(
      (body) => {
        this.#release(instance)
        call.resolve(body)
      },
      (error: unknown) => {
        this.#release(instance)
        call.reject(error)
      },
    )
  }

  /** Takes the instance used last: the others may then stay idle until their end. */
  #takeIdle(): Instance | undefined {
    const last = [...this.#idle].at(-1)
    if (!last) return undefined
    const [instance, timer] = last
    clearTimeout(timer)
    this.#idle.delete(instance)
    if (instance.alive) return instance
    this.#instances.delete(instance)
    return this.#takeIdle()
  }

  #coldStart(): Instance | undefined {
    if (this.#instances.size >= this.#function.concurrencyMax) return undefined
    this.coldStarts += 1
    const instance = new Instance(this.#function, this.#onLine)
    this.#instances.add(instance)
    return instance
  }

  #release(instance: Instance): void {
    if (this.#closed) return
    if (instance.alive) {
      const timer = setTimeout(() => this.#retire(instance), idleMs)
      this.#idle.set(instance, timer.unref())
    } else this.#instances.delete(instance)
    this.#assign()
  }

  #retire(instance: Instance): void {
    this.#idle.delete(instance)
    this.#instances.delete(instance)
    void instance.end()
  }
}
