/** Long polls: receivers that wait for a queue until an event on the queue. */

export interface Waiters {
  /** Resolves after `ms`, when the queue is notified, when `signal` aborts, or when all waiting ends. Never rejects. */
  wait(queueId: number, ms: number, signal: AbortSignal): Promise<void>
  /** Wakes every receiver that waits for the queue. */
  notify(queueId: number): void
  /** Ends all waiting, now and later. */
  end(): void
  readonly ended: boolean
}

export function createWaiters(): Waiters {
  const byQueue = new Map<number, Set<() => void>>()
  let ended = false

  function notify(queueId: number): void {
    for (const wake of byQueue.get(queueId) ?? []) wake()
  }

  return {
    get ended() {
      return ended
    },
    notify,
    wait(queueId, ms, signal) {
      if (ended || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const waiting = byQueue.get(queueId) ?? new Set()
        byQueue.set(queueId, waiting)
        const wake = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', wake)
          waiting.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        signal.addEventListener('abort', wake)
        waiting.add(wake)
      })
    },
    end() {
      ended = true
      for (const queueId of byQueue.keys()) notify(queueId)
    },
  }
}
