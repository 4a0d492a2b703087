/** A thread that runs seeds: takes a seed, answers with the outcome. */
import { parentPort } from 'node:worker_threads'
import { bundleRooms } from './kernel/bundle.ts'
import { runSeed, type SeedOutcome } from './run-seed.ts'

/** A request to a worker; `again` runs the seed twice and compares. */
export interface SeedAsked {
  readonly seed: number
  readonly again: boolean
}

export interface SeedDone {
  readonly outcome: SeedOutcome
  /** The end of a broken seed's trace. */
  readonly lines: readonly string[]
}

/** Printed lines of a broken seed's trace. */
const LINES_SHOWN = 60

if (!parentPort) throw new Error('To be run as a worker of simulate.ts.')
const port = parentPort
const coldStart = await bundleRooms()

/** Runs a seed; runs a broken seed once more for its trace, and a seed with `again` once more for a comparison. */
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
