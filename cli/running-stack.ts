/** Finds the running stack of a state folder, and reviews through that stack. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import * as z from 'zod'
import type { ControlLine, ControlServer, ControlStatus } from './control-server.ts'
import { CommandFailure } from './errors.ts'
import type { Reviewer, ReviewOutcome } from './request.ts'
import { upFile } from './settings.ts'

/** The content of `up.json`. */
const upSchema = z.object({
  pid: z.number(),
  controlUrl: z.string(),
  token: z.string(),
  webhookUrl: z.string(),
  /** The stand-in's pages; null for a real GitHub. */
  pageUrl: z.string().nullable(),
})
type UpFile = z.infer<typeof upSchema>

export interface RunningStack {
  readonly status: ControlStatus
  /** Base URL of Muster's API. */
  readonly apiUrl: string
  readonly reviewer: Reviewer
}

/** The time limit of a running stack's status, ms, however busy the stack is. */
const STATUS_TIMEOUT_MS = 5_000
/** A silence of this length, ms, means a dead stack: several times the promised interval between lines. */
const SILENCE_MS_MAX = 60_000

/** Announces this stack to other commands, until `removeUpFile`. Only the file's owner may read the token. */
export async function writeUpFile(
  stateDirectory: string,
  control: ControlServer,
  urls: { readonly webhookUrl: string; readonly pageUrl: string | null },
): Promise<void> {
  const up: UpFile = { pid: process.pid, controlUrl: control.url, token: control.token, ...urls }
  const file = upFile(stateDirectory)
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(up, undefined, 2)}\n`, { mode: 0o600 })
  await rename(temporary, file)
}

export async function removeUpFile(stateDirectory: string): Promise<void> {
  await rm(upFile(stateDirectory), { force: true })
}

/**
 * The running stack of this state; undefined without a running stack. A file left by a killed stack counts for nothing.
 */
export async function findRunningStack(stateDirectory: string): Promise<RunningStack | undefined> {
  const up = await readUpFile(stateDirectory)
  if (!up) return undefined
  const headers = { authorization: `Bearer ${up.token}` }
  let status: ControlStatus
  try {
    const response = await fetch(up.controlUrl, { headers, signal: AbortSignal.timeout(STATUS_TIMEOUT_MS) })
    if (!response.ok) return undefined // another program has the port by now
    status = (await response.json()) as ControlStatus
  } catch {
    return undefined // gone; if the stack lives after all, the lock on the state refuses a second stack in a moment
  }
  const apiUrl = new URL(up.webhookUrl).origin
  return { status, apiUrl, reviewer: (request, onProgress, signal) => reviewThrough(up, request, onProgress, signal) }
}

async function readUpFile(stateDirectory: string): Promise<UpFile | undefined> {
  try {
    return upSchema.safeParse(JSON.parse(await readFile(upFile(stateDirectory), 'utf8'))).data
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isMissing || error instanceof SyntaxError) return undefined
    throw error
  }
}

async function reviewThrough(
  up: UpFile,
  ...[request, onProgress, signal]: Parameters<Reviewer>
): Promise<ReviewOutcome> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX)
  try {
    const response = await fetch(`${up.controlUrl}/reviews`, {
      method: 'POST',
      headers: { authorization: `Bearer ${up.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (!response.ok || !response.body) throw new Error(`The running stack answered ${response.status}.`)
    // The same stream under the names of Node.js and of the web.
    const lines = createInterface({ input: Readable.fromWeb(response.body as ReadableStream) })
    for await (const text of lines) {
      timer.refresh()
      const line = JSON.parse(text) as ControlLine
      if ('progress' in line) onProgress(line.progress)
      if ('outcome' in line) return line.outcome
      if ('failure' in line) throw failureOf(line.failure)
    }
    throw new Error('The running stack ended in the middle of its answer.')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(
      'stack_gone',
      `The running stack (process ${up.pid}) no longer answers.`,
      'Call again: the review continues.',
      'unavailable',
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** The text already contains the remedy. */
function failureOf({ code, text, exit }: Extract<ControlLine, { failure: object }>['failure']): CommandFailure {
  return new CommandFailure(code, text, '', exit)
}
