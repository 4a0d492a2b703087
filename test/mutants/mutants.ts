/**
 * `npm run test:mutants`: each mutant of the list is one wrong change of the code, and some test, schedule or seed must
 * see the change. The exit code is 0 only if every mutant is killed, except mutants that the list declares invisible,
 * with a reason.
 * No file is changed. The judges must pass on the original code; otherwise the program judges no mutant.
 */
import { statSync } from 'node:fs'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { transform } from 'esbuild'
import { changedFile, pathOf } from './change.ts'
import { type Case, type Failure, JUDGES, type Judge, judge } from './judges.ts'
import { mutants } from './list/all.ts'
import type { Mutant } from './mutant.ts'

const USAGE = `Usage: npm run test:mutants -- [--list] [--only <text>]... [--judge tests|schedules|seeds] [--seeds N]
  --list      prints the mutants, and checks that each fits the code
  --only      mutants whose name or file has that text, or one of those texts
  --judge     by that judge alone: tells what it sees by itself; nothing is expected of it
  --seeds     seeds of the simulation for each mutant (default 60)`

/** Mutants judged in parallel. */
const AT_ONCE = 2
/** ms; a judge that exceeds both this time and a multiple of its time on the original code counts as endless. */
const ENDLESS_MS = 60_000
const ENDLESS_TIMES = 4
/** ms, for each judge on the original code. */
const UNCHANGED_MS_MAX = 15 * 60_000

interface Options {
  readonly list: boolean
  /** Texts to look for in a mutant's name or file. */
  readonly only: readonly string[]
  readonly judges: readonly Judge[]
  readonly isJudgedAlone: boolean
  readonly seeds: number
}

interface Outcome {
  readonly mutant: Mutant
  readonly killedBy: Failure
  readonly seconds: number
}

process.exitCode = await main(optionsOf(process.argv.slice(2)))

async function main({ list, only, judges, isJudgedAlone, seeds }: Options): Promise<number> {
  const chosen = mutants.filter(({ name, file }) => only.some((text) => name.includes(text) || file.includes(text)))
  if (chosen.length === 0) throw new Error(`No mutant has “${only.join('” or “')}” in its name or file.`)
  const rotten = await rottenOf(chosen)
  for (const sentence of rotten) console.error(sentence)
  if (rotten.length > 0) return 1
  if (list) {
    for (const { name, file, breaks, survives } of chosen) {
      console.log(`${name}\n  ${file}: ${breaks}${survives === undefined ? '' : `\n  survives: ${survives}`}`)
    }
    console.log(`${chosen.length} mutants`)
    return 0
  }

  const all = { tests: unique(chosen, 'tests'), schedules: unique(chosen, 'schedules'), seeds }
  const before = stateOf(chosen)
  const limits = await limitsOf(all, judges)
  if (!limits) return 1
  const outcomes = await judged(chosen, { seeds, judges, limits })
  const wrong = report(outcomes)
  if (stateOf(chosen) !== before) {
    console.error('Void: files were changed while they were judged.')
    return 1
  }
  return isJudgedAlone ? 0 : wrong
}

/** The newest change of the mutated files and the judging files. */
function stateOf(chosen: readonly Mutant[]): string {
  const files = [...chosen.map(({ file }) => file), ...unique(chosen, 'tests'), ...unique(chosen, 'schedules')]
  return files.map((file) => statSync(pathOf({ file })).mtimeMs).join()
}

/** The mutants that don't fit the code: the text does not occur once, or the changed code doesn't parse. */
async function rottenOf(chosen: readonly Mutant[]): Promise<string[]> {
  const found = await Promise.all(
    chosen.map(async (mutant) => {
      try {
        await transform(changedFile(mutant), { loader: 'ts', logLevel: 'silent' })
        return []
      } catch (error) {
        return [`${mutant.name}: ${error instanceof Error ? error.message : String(error)}`]
      }
    }),
  )
  return found.flat()
}

/** The time limit of each judge for a mutant, ms; undefined if a judge fails on the original code. */
async function limitsOf(all: Case, judges: readonly Judge[]): Promise<ReadonlyMap<Judge, number> | undefined> {
  const limits = new Map<Judge, number>()
  for (const name of judges) {
    const startedAt = performance.now()
    const failure = await judge(name, all, undefined, UNCHANGED_MS_MAX)
    const tookMs = performance.now() - startedAt
    if (failure !== undefined) {
      console.error(`Void: ${name} fail about the code as it is. ${failure}`)
      return undefined
    }
    console.log(`The code as it is holds: ${name}, ${inSeconds(tookMs)} s`)
    limits.set(name, Math.max(ENDLESS_MS, ENDLESS_TIMES * tookMs))
  }
  return limits
}

async function judged(
  chosen: readonly Mutant[],
  by: { seeds: number; judges: readonly Judge[]; limits: ReadonlyMap<Judge, number> },
): Promise<Outcome[]> {
  const left = [...chosen]
  const outcomes: Outcome[] = []
  async function work(): Promise<void> {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const outcome = await trial(mutant, by)
      outcomes.push(outcome)
      print(outcome)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => work()))
  return outcomes
}

async function trial(
  mutant: Mutant,
  { seeds, judges, limits }: { seeds: number; judges: readonly Judge[]; limits: ReadonlyMap<Judge, number> },
): Promise<Outcome> {
  const startedAt = performance.now()
  let killedBy: Failure
  for (const name of judges) {
    killedBy = await judge(name, { ...mutant, seeds }, mutant, limits.get(name) ?? ENDLESS_MS)
    if (killedBy !== undefined) break
  }
  return { mutant, killedBy, seconds: inSeconds(performance.now() - startedAt) }
}

function print({ mutant, killedBy, seconds }: Outcome): void {
  const by = killedBy === undefined ? 'SURVIVES' : stripVTControlCharacters(killedBy)
  console.log(`${mutant.name.padEnd(60)} ${String(seconds).padStart(4)} s  ${by}`)
}

/** Prints the deviations from the list; returns 1 if any exists. */
function report(outcomes: readonly Outcome[]): number {
  const survivors = outcomes.filter(({ killedBy }) => killedBy === undefined)
  const isExpected = ({ mutant }: Outcome) => mutant.survives !== undefined
  const outdated = outcomes.filter((outcome) => outcome.killedBy !== undefined && isExpected(outcome))
  const unseen = survivors.filter((outcome) => !isExpected(outcome))
  console.log(`\n${outcomes.length - survivors.length} of ${outcomes.length} mutants killed.`)
  for (const { mutant } of survivors) {
    console.log(`Survives: ${mutant.name}. ${mutant.survives ?? `NOTHING SEES IT: ${mutant.breaks}`}`)
  }
  for (const { mutant } of outdated) console.log(`The list is out of date: ${mutant.name} is killed.`)
  return unseen.length + outdated.length > 0 ? 1 : 0
}

function unique(chosen: readonly Mutant[], member: 'tests' | 'schedules'): string[] {
  return [...new Set(chosen.flatMap((mutant) => mutant[member]))]
}

function inSeconds(ms: number): number {
  return Math.round(ms / 1000)
}

function optionsOf(words: readonly string[]): Options {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        list: { type: 'boolean', default: false },
        only: { ...text, multiple: true },
        judge: text,
        seeds: text,
      },
    })
    const seeds = Number(values.seeds ?? '60')
    if (!Number.isSafeInteger(seeds) || seeds < 1) throw new Error(`--seeds takes a whole number from 1, not ${seeds}.`)
    const judges = values.judge === undefined ? JUDGES : JUDGES.filter((name) => name === values.judge)
    if (judges.length === 0) throw new Error(`There is no judge “${values.judge}”.`)
    return { list: values.list, only: values.only ?? [''], judges, isJudgedAlone: values.judge !== undefined, seeds }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
    process.exit(64)
  }
}
