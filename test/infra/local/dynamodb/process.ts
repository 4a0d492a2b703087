/** Starts and kills processes that serve a local DynamoDB. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface ServingProcess {
  readonly pid: number
  /** The first line of the process: `url`, or the `code` and `message` of its refusal. */
  readonly said: { readonly url?: string; readonly code?: string; readonly message?: string }
  /** Ends the process as `kill -9` does, and resolves after its end. Repeatable. */
  kill(): Promise<void>
}

/** Starts a process on `directory` and waits for its first line. */
export async function startProcess(directory: string): Promise<ServingProcess> {
  const program = fileURLToPath(new URL('child.ts', import.meta.url))
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, 'line'), gone])) as [string | number | null]
  if (typeof line !== 'string') throw new Error(`The process ended with ${line} and said nothing`)
  return {
    pid: child.pid ?? 0,
    said: JSON.parse(line),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
