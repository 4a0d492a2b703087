/** A round: the process is started, killed at its moments and started again, and the state at rest is judged. */
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
  /** ms after the start of the process. */
  readonly atMs: number
  /** The last reported landmark. */
  readonly after: string
  /** True if the wanted moment never came, and the kill came at rest. */
  readonly missed: boolean
}

export interface RoundResult {
  readonly scenario: Scenario
  readonly kills: readonly KillSeen[]
  /** The unfinished work that the last process found at its start. */
  readonly found: string
  /** ms from the last start to rest. */
  readonly restMs: number
  readonly violations: readonly string[]
  /** Kept after a failed round. */
  readonly keptDirectory?: string
}

/** The time limit for rest, ms. With short leases a review that lost its worker takes 15 s. */
const REST_MS_MAX = 150_000
/** A process beyond this time is stuck, ms. */
const PROCESS_MS_MAX = REST_MS_MAX + 30_000
/** The time for the end of a process without further work, ms. */
const CLOSE_MS_MAX = 15_000

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

/** Runs a round in a folder of its own, removed after success. `killCount` absent: the seed decides. */
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
  /** The snapshot at rest; undefined without a report. */
  readonly ended: SystemSnapshot | undefined
  readonly killed: KillSeen | undefined
  readonly found: string
  readonly restMs: number
  /** The process's error output. */
  readonly errorOutput: string
}

/** Starts the process, kills it at the moment of `kill`, if any, and resolves when the process is gone. */
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

/** A hanging process is killed too; its round fails, because the report is missing. */
async function within(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  const stuck = setTimeout(() => child.kill('SIGKILL'), PROCESS_MS_MAX + CLOSE_MS_MAX)
  await gone
  clearTimeout(stuck)
}
