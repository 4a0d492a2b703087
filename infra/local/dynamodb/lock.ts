/** A reader–writer lock within one process, first come, first served: neither side can starve the other. */

interface Waiting {
  readonly exclusive: boolean
  readonly start: () => void
}

export class ReaderWriterLock {
  readonly #queue: Waiting[] = []
  #running = 0
  #runningExclusively = false

  /** Runs `work` beside other shared work. */
  shared<T>(work: () => Promise<T>): Promise<T> {
    return this.#run(false, work)
  }

  /** Runs `work` alone: after all earlier work, before all later work. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#run(true, work)
  }

  async #run<T>(exclusive: boolean, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#queue.push({ exclusive, start })
      this.#startWhatMay()
    })
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#runningExclusively = false
      this.#startWhatMay()
    }
  }

  #startWhatMay(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#runningExclusively || (next.exclusive && this.#running > 0)) return
      this.#queue.shift()
      this.#running += 1
      this.#runningExclusively = next.exclusive
      next.start()
    }
  }
}
