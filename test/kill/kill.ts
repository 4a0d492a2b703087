/**
 * `npm run test:kill`: a kill of the whole stack as by `kill -9`, at 20 different moments and over different inputs, and
 * a restart on the remaining state. At rest every review stands on GitHub once, no review is pending, and no check run
 * is in progress.
 *
 * A seed fixes the inputs and the moment of the kill; the scheduling in between is left to the machine. A failing seed
 * is run again with `--seed N`, several times if necessary.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { loadAssembly } from '../../infra/local/assembly.ts'
import { type RoundResult, runRound } from './round.ts'

const USAGE = `Usage: npm run test:kill -- [--seed N] [--rounds N] [--kills N]
  --seed N    the first seed (default 1); with it alone, only that one is run
  --rounds N  how many seeds, one after the other (default 20, or 1 with --seed)
  --kills N   kills in each round (default: 1 or 2, as the seed has it)`

const ROUNDS_DEFAULT = 20
/** Synthesized once for all programs on this machine. */
const CACHE_DIRECTORY = path.resolve(import.meta.dirname, '../../.muster/cache')

const { seed, rounds, kills } = argumentsOf(process.argv.slice(2))
const directory = await mkdtemp(path.join(tmpdir(), 'muster-kill-'))
// Now, so that no process spends its first seconds on the synth.
await loadAssembly({ cacheDirectory: CACHE_DIRECTORY })

const startedAt = performance.now()
const results: RoundResult[] = []
console.log(`${rounds} rounds from seed ${seed}`)
for (let round = 0; round < rounds; round += 1) {
  const result = await runRound(seed + round, {
    directory: path.join(directory, `seed-${seed + round}`),
    cacheDirectory: CACHE_DIRECTORY,
    ...(kills === undefined ? {} : { killCount: kills }),
  })
  results.push(result)
  print(round + 1, result)
}
const broken = results.filter(({ violations }) => violations.length > 0)
const killed = results.flatMap((result) => result.kills)
const seconds = Math.round((performance.now() - startedAt) / 1_000)
if (broken.length === 0) await rm(directory, { recursive: true, force: true })
console.log(
  `${results.length - broken.length} of ${results.length} rounds hold after ${killed.length} kills, in ${seconds} s.`,
)
process.exitCode = broken.length === 0 ? 0 : 1

function print(round: number, { scenario, kills, found, restMs, violations, keptDirectory }: RoundResult): void {
  const moments = kills.map(({ atMs, after, missed }) => `${atMs} ms, ${missed ? 'at rest' : `after “${after}”`}`)
  console.log(
    [
      `${String(round).padStart(2)}  ${violations.length === 0 ? 'holds ' : 'BROKEN'}  seed ${scenario.seed}`,
      scenario.stories.join(' + '),
      `killed ${moments.join('; ')}`,
      `found ${found === '' ? 'nothing under way' : found}`,
      `at rest after ${(restMs / 1_000).toFixed(1)} s`,
    ].join(' | '),
  )
  for (const violation of violations) console.log(`      ${violation}`)
  if (keptDirectory)
    console.log(`      Again: npm run test:kill -- --seed ${scenario.seed}. Its state: ${keptDirectory}`)
}

function argumentsOf(words: readonly string[]): { seed: number; rounds: number; kills: number | undefined } {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({ args: [...words], options: { seed: text, rounds: text, kills: text } })
    const wholeOf = (value: string) => {
      const number = Number(value)
      if (!Number.isSafeInteger(number) || number < 1)
        throw new Error(`Expected a whole number from 1, got “${value}”.`)
      return number
    }
    return {
      seed: wholeOf(values.seed ?? '1'),
      rounds: wholeOf(values.rounds ?? (values.seed === undefined ? String(ROUNDS_DEFAULT) : '1')),
      kills: values.kills === undefined ? undefined : wholeOf(values.kills),
    }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
    process.exit(64)
  }
}
