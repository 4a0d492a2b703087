/** One of the threads that run seeds: takes a seed, answers what came of it. */
import { parentPort } from 'node:worker_threads'
import { bundleRooms } from './kernel/bundle.ts'
import { runSeed, type SeedOutcome } from './run-seed.ts'

/** What is asked of a worker: `again` runs it twice and compares. */
export interface SeedAsked {
  readonly seed: number
  readonly again: boolean
}

export interface SeedDone {
  readonly outcome: SeedOutcome
  /** The end of its trace, if it broke. */
  readonly lines: readonly string[]
}

/** Lines of a broken seed's trace that are printed. */
const LINES_SHOWN = 60

if (!parentPort) throw new Error('To be run as a worker of simulate.ts.')
const port = parentPort
const coldStart = await bundleRooms()

/** A seed that broke is run once more, for its trace; so is one whose histories are compared. */
async function done({ seed, again }: SeedAsked): Promise<SeedDone> {
  const outcome = await runSeed(seed, coldStart, { traced: again })
  if (!outcome.broken && !again) return { outcome, lines: [] }
  const second = await runSeed(seed, coldStart, { traced: true })
  const lines = second.trace.slice(-LINES_SHOWN)
  const isSame = again ? second.digest === outcome.digest : second.broken?.message === outcome.broken?.message
  if (isSame) return { outcome: { ...outcome, trace: [] }, lines: outcome.broken ? lines : [] }
  const broken = { invariant: 'one seed is one history', message: 'Its second run was another one.' }
  return { outcome: { ...outcome, trace: [], broken }, lines }
}

port.on('message', async (asked: SeedAsked) => port.postMessage(await done(asked)))
