/** One round: the process is started, killed at its moments, started again, and what stands at rest is judged. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { violationsOf } from './judge.ts'
import type { ChildMessage, ChildOptions } from './messages.ts'
import { type Kill, type Scenario, scenarioOf } from './scenario.ts'
import type { SystemSnapshot } from './snapshot.ts'

export interface KillSeen {
  /** ms after the process was started. */
  readonly atMs: number
  /** The last that it told before. */
  readonly after: string
  /** True if the moment that was wanted never came, and it was killed at rest. */
  readonly missed: boolean
}

export interface RoundResult {
  readonly scenario: Scenario
  readonly kills: readonly KillSeen[]
  /** What the last process found under way when it was up. */
  readonly found: string
  /** ms from the last start to rest. */
  readonly restMs: number
  readonly violations: readonly string[]
  /** Kept, because the round failed. */
  readonly keptDirectory?: string
}

/** A process that hasn't come to rest by then won't, ms. With short leases a review that lost its worker takes 15 s. */
const REST_MS_MAX = 150_000
/** More than that, and the process is stuck, ms. */
const PROCESS_MS_MAX = REST_MS_MAX + 30_000
/** A process that was asked to end by having nothing left to do, ms. */
const CLOSE_MS_MAX = 15_000

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

/** Runs a round in a folder of its own, which is removed if everything holds. `killCount` absent: the seed decides. */
export async function runRound(
  seed: number,
  options: { directory: string; cacheDirectory: string; killCount?: number },
): Promise<RoundResult> {
  const scenario = scenarioOf(seed, options.killCount)
  const child: ChildOptions = {
    seed,
    stateDirectory: path.join(options.directory, 'state'),
    gitDirectory: path.join(options.directory, 'git'),
    logFile: path.join(options.directory, 'functions.log'),
    cacheDirectory: options.cacheDirectory,
    restMsMax: REST_MS_MAX,
  }
  const kills: KillSeen[] = []
  for (const kill of scenario.kills) {
    const { killed, errorOutput: complaint } = await runUntil(child, kill)
    if (!killed) return failed(scenario, kills, options.directory, complaint)
    kills.push(killed)
  }
  const { ended, found, restMs, errorOutput: complaint } = await runUntil(child)
  if (ended === undefined) return failed(scenario, kills, options.directory, complaint)
  const violations = violationsOf(ended)
  if (violations.length === 0) await rm(options.directory, { recursive: true, force: true })
  return {
    scenario,
    kills,
    found,
    restMs,
    violations,
    ...(violations.length === 0 ? {} : { keptDirectory: options.directory }),
  }
}

function failed(scenario: Scenario, kills: KillSeen[], directory: string, complaint: string): RoundResult {
  const violations = [`The process ended by itself: ${complaint.trim().slice(-2_000)}`]
  return { scenario, kills, found: '', restMs: 0, violations, keptDirectory: directory }
}

interface ProcessOutcome {
  /** What stood when it had come to rest; undefined if it didn't tell. */
  readonly ended: SystemSnapshot | undefined
  readonly killed: KillSeen | undefined
  readonly found: string
  readonly restMs: number
  /** What it said on its error output. */
  readonly errorOutput: string
}

/** Starts the process, kills it at its moment if one is given, and resolves when it is gone. */
async function runUntil(options: ChildOptions, kill?: Kill): Promise<ProcessOutcome> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const startedAt = performance.now()
  const gone = once(child, 'exit')
  const sinceStart = () => Math.round(performance.now() - startedAt)
  let last = 'start'
  let seen = 0
  let found = ''
  let restMs = 0
  let complaint = ''
  let ended: SystemSnapshot | undefined
  let killed: KillSeen | undefined
  let timer: NodeJS.Timeout | undefined
  const killNow = (missed: boolean) => {
    killed ??= { atMs: sinceStart(), after: last, missed }
    child.kill('SIGKILL')
  }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  child.on('message', (message: ChildMessage) => {
    if (message.kind === 'found') found = message.found
    if (message.kind === 'landmark') {
      last = message.landmark
      if (message.landmark === kill?.landmark && ++seen === kill.occurrence) {
        timer = setTimeout(() => killNow(false), kill.delayMs)
      }
    }
    if (message.kind === 'ended') {
      restMs = sinceStart()
      if (kill) {
        last = 'rest'
        killNow(true)
      } else {
        ended = message.snapshot
      }
    }
  })
  await within(child, gone)
  clearTimeout(timer)
  return { ended, killed, found, restMs, errorOutput: complaint }
}

/** A process that hangs is killed too; its round fails, because it told nothing. */
async function within(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  const stuck = setTimeout(() => child.kill('SIGKILL'), PROCESS_MS_MAX + CLOSE_MS_MAX)
  await gone
  clearTimeout(stuck)
}
