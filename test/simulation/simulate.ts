/**
 * `npm run simulate -- [--seeds N] [--from M] [--workers W] [--verbose]` runs many seeds; `--seed N` runs one and
 * prints its whole trace. Ends with 0 only if every seed held and, from 20,000 seeds on, every counted event happened.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { addSeed, never, SOMETIMES, type Sometimes, tableOf } from './counters.ts'
import { bundleRooms } from './kernel/bundle.ts'
import { runSeed } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import type { SeedDone } from './seed-worker.ts'

/** With fewer seeds a rare event is a matter of luck. */
const COUNTED_FROM = 20_000
/** The share of seeds that are run twice: one of 50. */
const AGAIN_EVERY = 50
/** s between two lines of progress, without a terminal. */
const PROGRESS_EVERY_S = 30

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    verbose: { type: 'boolean', default: false },
  },
})

process.exitCode = values.seed === undefined ? await many() : await one(numberIn('seed', values.seed))

async function one(seed: number): Promise<number> {
  const run = await runSeed(seed, await bundleRooms(), { traced: true })
  print(JSON.stringify(run.script, undefined, 2))
  print(run.trace.join('\n'))
  print(`Seen: ${[...run.seen].sort().join(', ')}`)
  print(`${run.steps} steps, ${Math.round(run.worldMs / 1000)} s of its world, trace ${run.digest}`)
  print(run.broken ? `Seed ${seed} breaks ${run.broken.message}` : `Seed ${seed} holds.`)
  return run.broken ? 1 : 0
}

async function many(): Promise<number> {
  const [from, count, workers] = [
    numberIn('from', values.from),
    numberIn('seeds', values.seeds),
    numberIn('workers', values.workers),
  ]
  const counts = new Map<Sometimes, number>()
  const broken: number[] = []
  const startedAt = performance.now()
  let [seeds, steps, worldMs, saidAt] = [0, 0, 0, 0]

  function done({ outcome, lines }: SeedDone): void {
    seeds += 1
    steps += outcome.steps
    worldMs += outcome.worldMs
    addSeed(counts, outcome.seen)
    if (values.verbose) print(`seed ${outcome.seed}: ${outcome.steps} steps, ${outcome.broken?.invariant ?? 'holds'}`)
    if (outcome.broken) {
      broken.push(outcome.seed)
      say('')
      print(`\nSeed ${outcome.seed} breaks ${outcome.broken.message}\n\n${lines.join('\n')}\n`)
      print(`Again, with its whole trace: npm run simulate -- --seed ${outcome.seed}\n`)
    }
    progress()
  }

  /** Rewrites one line on a terminal; else prints a line now and then. */
  function progress(): void {
    const seconds = (performance.now() - startedAt) / 1000
    const rate = (seeds / seconds).toFixed(1)
    const text = `${seeds} of ${count} seeds, ${rate} a second, ${broken.length} broken, ${never(counts).length} of ${SOMETIMES.length} kinds not met yet`
    if (process.stdout.isTTY) say(text)
    else if (seconds - saidAt >= PROGRESS_EVERY_S) {
      saidAt = seconds
      print(text)
    }
  }

  await runSeeds({ from, count, workers, done, againEvery: AGAIN_EVERY })
  const seconds = (performance.now() - startedAt) / 1000
  say('')
  print(tableOf(counts))
  print('')
  print(
    `${seeds} schedules in ${seconds.toFixed(0)} s: ${(seeds / seconds).toFixed(1)} a second, ${steps} steps, ${(worldMs / 3_600_000).toFixed(0)} h of their worlds`,
  )
  const missing = never(counts)
  if (missing.length > 0) print(`Never happened: ${missing.join('; ')}`)
  if (broken.length > 0) print(`Broken: ${broken.sort((a, b) => a - b).join(', ')}`)
  else print('Every seed holds.')
  return broken.length > 0 || (count >= COUNTED_FROM && missing.length > 0) ? 1 : 0
}

function numberIn(option: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${option} takes a whole number from 1 on, not ${text}.`)
  return number
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Prints over the current line of a terminal. */
function say(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`)
}
