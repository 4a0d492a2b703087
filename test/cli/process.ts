/** The command as a process of its own, for tests that wait for output, interrupt or kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

export interface Ended {
  /** Null after a signal. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Command {
  readonly pid: number
  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void
  /** Resolves once stdout and stderr together match; rejects if the process ends before. */
  says(text: RegExp): Promise<void>
  readonly ended: Promise<Ended>
}

const root = path.resolve(import.meta.dirname, '../..')
const started = new Set<ChildProcess>()

/**
 * Starts `cli/main.ts` or another script of `cli` with these arguments. Without a model in `environment` no model is
 * configured.
 */
export function start(args: readonly string[], script = 'main.ts', environment: NodeJS.ProcessEnv = {}): Command {
  const child = spawn(process.execPath, [path.join(root, 'cli', script), ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]) => {
    started.delete(child)
    return { code: code as number | null, stdout, stderr }
  })
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    async says(text) {
      while (!text.test(stderr + stdout)) {
        const next = [once(child.stdout, 'data'), once(child.stderr, 'data'), ended]
        await Promise.race(next)
        const how = child.exitCode ?? child.signalCode
        if (how !== null && !text.test(stderr + stdout)) {
          throw new Error(`The command ended (${how}) without the text ${text}:\n${stderr}${stdout}`)
        }
      }
    },
    ended,
  }
}

/** Ends the processes of a failed test. */
export async function endAll(): Promise<void> {
  const ends = [...started].map((child) => (child.kill('SIGKILL') ? once(child, 'close') : undefined))
  await Promise.all(ends)
}
