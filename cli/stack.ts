/** Starts the local stack for a command, with a progress line for each long step. */

import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { AppCredentials } from '../infra/local/credentials.ts'
import type { LocalStack } from '../infra/local/stack.ts'
import { openControlServer } from './control-server.ts'
import { makeFolder } from './make-folder.ts'
import type { Reporter } from './progress.ts'
import type { Reviewer } from './request.ts'
import { reviewerOn } from './reviewer.ts'
import { removeUpFile, writeUpFile } from './running-stack.ts'
import { cacheDirectory, logFile, type ModelSettings } from './settings.ts'

export interface StackSettings {
  readonly stateDirectory: string
  /** Port of the webhook's endpoint; 0 takes any free port. */
  readonly port: number
  readonly model: ModelSettings | undefined
  /** A real GitHub instead of the stand-in. */
  readonly github?: { readonly apiUrl: string; readonly credentials: AppCredentials }
  /** True: other commands find and use this stack. */
  readonly isShared: boolean
}

export interface OpenStack {
  readonly stack: LocalStack
  /** Undefined where the stack serves a real GitHub. */
  readonly reviewer: Reviewer | undefined
  /** Ends everything; unfinished work continues at the next start. Repeatable. */
  close(): Promise<void>
}

/** Starts the stack on its state. Rejects if the state or the port is in use. */
export async function openStack(settings: StackSettings, reporter: Reporter): Promise<OpenStack> {
  const { stateDirectory, port, model, github, isShared } = settings
  await makeFolder(stateDirectory)
  // Opened at the first line, once this process has the state: a refused process leaves the log of another alone.
  let log: WriteStream | undefined
  const write = (line: string) => {
    log ??= createWriteStream(logFile(stateDirectory), { flags: 'a', mode: 0o600 })
    log.write(line)
  }
  const { startLocalStack } = await import('../infra/local/stack.ts')
  const stack = await reporter.step(await startingText(), () =>
    startLocalStack({
      directory: stateDirectory,
      cacheDirectory,
      port,
      ...(model ? { model } : {}),
      ...(github ? { github } : {}),
      onLog: (functionName, line) => write(`${functionName} ${line}\n`),
    }),
  )
  const standIn = stack.github
  const reviewer = standIn && reviewerOn({ apiUrl: stack.apiUrl, github: standIn }, model?.model)
  const status = { pid: process.pid, model: model?.model ?? null, reviewsLocally: reviewer !== undefined }
  const control = isShared ? await openControlServer(status, reviewer) : undefined
  if (control) {
    await writeUpFile(stateDirectory, control, { webhookUrl: stack.webhookUrl, pageUrl: standIn?.url ?? null })
  }
  let closing: Promise<void> | undefined
  return {
    stack,
    reviewer,
    close() {
      closing ??= (async () => {
        if (control) await removeUpFile(stateDirectory) // first, while this process still has the state
        await control?.close()
        await stack.close()
        if (log) await once(log.end(), 'close')
      })()
      return closing
    },
  }
}

/** The first start takes much longer, so the text gives the reason. */
async function startingText(): Promise<string> {
  const kept = await readdir(cacheDirectory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const isFirst = !kept.some((name) => name.startsWith('assembly-'))
  return isFirst ? 'Synthesizing (the first time only) and starting the stack' : 'Starting the stack'
}
