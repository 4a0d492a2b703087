/** The judges of a mutant, from cheap to expensive: test files, scripted schedules, seeds of the simulation. */
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Change, environmentOf } from './change.ts'
import type { Mutant } from './mutant.ts'

export const JUDGES = ['tests', 'schedules', 'seeds'] as const
export type Judge = (typeof JUDGES)[number]

/** The judges' material: files, or the number of seeds. */
export interface Case extends Pick<Mutant, 'tests' | 'schedules'> {
  readonly seeds: number
}

/** The first failure; undefined if everything held. */
export type Failure = string | undefined

/**
 * One judge's answer about the code with this change, or about the original code. A judge that exceeds `withinMs` has
 * failed.
 */
export function judge(name: Judge, about: Case, change: Change | undefined, withinMs: number): Promise<Failure> {
  switch (name) {
    case 'tests':
      return byTests(about.tests, change, withinMs)
    case 'schedules':
      return byTests(about.schedules, change, withinMs)
    case 'seeds':
      return bySeeds(about.seeds, change, withinMs)
  }
}

/** The used part of vitest's JSON report. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

let reports = 0

async function byTests(files: readonly string[], change: Change | undefined, withinMs: number): Promise<Failure> {
  if (files.length === 0) return undefined
  reports += 1
  const report = path.join(tmpdir(), `muster-mutants-${process.pid}-${reports}.json`)
  const words = ['run', '--config', 'test/mutants/vitest.config.ts', '--bail', '1', '--outputFile', report, ...files]
  const { code, output } = await run(['node_modules/vitest/vitest.mjs', ...words], change, withinMs)
  if (code === 0) return undefined
  if (code === undefined) return endless(withinMs)
  try {
    return failureIn(JSON.parse(await readFile(report, 'utf8')) as Report) ?? unclear(output)
  } catch {
    return unclear(output)
  } finally {
    await rm(report, { force: true })
  }
}

function failureIn({ testResults }: Report): Failure {
  const failed = testResults.filter(({ status }) => status === 'failed')
  for (const { name, assertionResults } of failed) {
    const test = assertionResults.find(({ status }) => status === 'failed')
    if (test) return `${path.basename(name)}: ${[...test.ancestorTitles, test.title].join(' › ')}`
  }
  return failed.map(({ name, message }) => `${path.basename(name)}: ${message.split('\n')[0]}`)[0]
}

async function bySeeds(count: number, change: Change | undefined, withinMs: number): Promise<Failure> {
  const { code, output } = await run(['test/mutants/seeds.ts', String(count)], change, withinMs)
  if (code === undefined) return endless(withinMs)
  if (code !== 0) throw new Error(unclear(output))
  if (output === '') return undefined
  const { seed, message } = JSON.parse(output) as { seed: number; message: string }
  return `seed ${seed}: ${message}`
}

function endless(withinMs: number): string {
  return `it doesn't end within ${Math.round(withinMs / 1000)} s`
}

function unclear(output: string): string {
  return `it failed without a report: ${output.trim().slice(-2_000)}`
}

interface Ran {
  /** Undefined after a timeout. */
  readonly code: number | undefined
  readonly output: string
}

function run(words: readonly string[], change: Change | undefined, withinMs: number): Promise<Ran> {
  const child = spawn(process.execPath, words, { env: environmentOf(change), detached: true })
  let output = ''
  let isLate = false
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString()
  })
  child.stderr.on('data', (data: Buffer) => {
    output += data.toString()
  })
  const end = setTimeout(() => {
    isLate = true
    // Kills the process group, to include vitest's workers.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, withinMs)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(end)
      resolve({ code: isLate ? undefined : (code ?? 1), output })
    })
  })
}
