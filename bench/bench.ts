/** `npm run bench`: measures Muster's promises on this machine, and prints one table for each bench. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { loadAssembly } from '../infra/local/assembly.ts'
import { burst } from './burst.ts'
import { coldStart } from './cold-start.ts'
import { fleet } from './fleet.ts'
import { large } from './large.ts'
import { ledger } from './ledger.ts'
import type { Bench, Outcome } from './measurement.ts'
import { tableOf } from './table.ts'
import { transitions } from './transitions.ts'
import { webhooks } from './webhooks.ts'

const BENCHES: readonly Bench[] = [coldStart, webhooks, ledger, transitions, fleet, burst, large]
/** The time limit of a bench, ms: all benches together take half of this on two idle cores. */
const BENCH_MS_MAX = 180_000
/** Exit status for a wrong option, from sysexits.h. */
const EXIT_USAGE = 64
const CACHE_DIRECTORY = path.resolve(import.meta.dirname, '../.muster/cache')

const USAGE = `Usage: npm run bench -- [name…] [--json FILE]

Without a name all benches run, one after the other. All services stay on loopback, all files in a temporary folder.

${BENCHES.map(({ name, measures }) => `  ${name.padEnd(12)} ${measures}`).join('\n')}

  --json FILE  also writes every sample to FILE
  --help       this text

docs/benchmarks.md explains the tables.`

interface Selection {
  readonly benches: readonly Bench[]
  readonly jsonFile: string | undefined
}

const selection = selectionOf(process.argv.slice(2))
if (selection === undefined) {
  console.log(USAGE)
} else if (typeof selection === 'string') {
  console.error(`bench: ${selection}`)
  process.exitCode = EXIT_USAGE
} else {
  await runAll(selection)
}

/** The selected benches; undefined for help; a sentence with its remedy for a wrong option. */
function selectionOf(args: string[]): Selection | undefined | string {
  const known = BENCHES.map(({ name }) => name)
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { json: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help) return undefined
    const unknown = positionals.find((name) => !known.includes(name))
    if (unknown !== undefined) return `there is no bench "${unknown}". Use ${known.join(', ')}.`
    const benches = positionals.length === 0 ? BENCHES : BENCHES.filter(({ name }) => positionals.includes(name))
    return { benches, jsonFile: values.json }
  } catch (error) {
    return `${(error as Error).message} Try --help.`
  }
}

/** A failed bench stops no other bench; the exit status reports the failure. */
async function runAll({ benches, jsonFile }: Selection): Promise<void> {
  const machine = `Node.js ${process.versions.node}, ${availableParallelism()} cores, ${process.platform} ${process.arch}`
  console.log(`${machine}\n`)
  // Synthesized before any measurement: otherwise the first bench would pay for the synth.
  await loadAssembly({ cacheDirectory: CACHE_DIRECTORY })
  const outcomes: Record<string, Outcome> = {}
  for (const bench of benches) {
    const startedAt = performance.now()
    console.log(`${bench.name}: ${bench.measures}\n`)
    try {
      const outcome = await runOne(bench)
      outcomes[bench.name] = outcome
      console.log(tableOf(outcome.measurements))
      for (const note of outcome.notes) console.log(`\n${note}`)
    } catch (error) {
      process.exitCode = 1
      console.error(`bench: ${bench.name} failed:`, error)
    }
    console.log(`\n(${((performance.now() - startedAt) / 1000).toFixed(1)} s)\n`)
  }
  if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify({ machine, outcomes }, undefined, 2)}\n`)
}

async function runOne(bench: Bench): Promise<Outcome> {
  const directory = await mkdtemp(path.join(tmpdir(), `muster-bench-${bench.name}-`))
  try {
    return await bench.run({
      directory,
      cacheDirectory: CACHE_DIRECTORY,
      signal: AbortSignal.timeout(BENCH_MS_MAX),
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
