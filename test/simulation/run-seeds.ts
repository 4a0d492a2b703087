/** Many seeds, on several threads. */
import { Worker } from 'node:worker_threads'
import type { SeedAsked, SeedDone } from './seed-worker.ts'

export interface SeedsOptions {
  readonly from: number
  readonly count: number
  readonly workers: number
  /** Called in the order in which seeds end. */
  readonly done: (done: SeedDone) => void
  /** Every n-th seed is run twice, and its two histories are compared. */
  readonly againEvery: number
}

/**
 * A world's items live as long as their seed: in a smaller heap of young objects the collector moves them again and
 * again.
 */
const YOUNG_MB = 128

/** Resolves when all seeds have ended. Rejects if a worker fails: then the simulation itself is broken. */
export async function runSeeds({ from, count, workers, done, againEvery }: SeedsOptions): Promise<void> {
  let next = from
  const until = from + count
  const threads = Math.min(workers, count)
  await Promise.all(Array.from({ length: threads }, () => work()))

  function work(): Promise<void> {
    const worker = new Worker(new URL('./seed-worker.ts', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    return new Promise((resolve, reject) => {
      function ask(): void {
        if (next >= until) {
          worker.terminate().then(() => resolve(), reject)
          return
        }
        const seed = next
        next += 1
        worker.postMessage({ seed, again: seed % againEvery === 0 } satisfies SeedAsked)
      }
      worker.on('error', reject)
      worker.on('message', (answer: SeedDone) => {
        done(answer)
        ask()
      })
      ask()
    })
  }
}
