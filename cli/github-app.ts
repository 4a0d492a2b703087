/** Reads the file with Muster's identity on a real GitHub. No content of the file is ever printed. */
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import type { AppCredentials } from '../infra/local/credentials.ts'
import { CommandFailure } from './errors.ts'

const schema = z.strictObject({
  appId: z.number().int().positive(),
  privateKey: z.string().min(1).optional(),
  /** Relative to the file of the setting. */
  privateKeyFile: z.string().min(1).optional(),
  webhookSecrets: z.array(z.string().min(1)).min(1),
})

const REMEDY =
  'The file is JSON: {"appId": 123, "privateKeyFile": "app.pem", "webhookSecrets": ["…"]}; "privateKey" may replace "privateKeyFile".'

/** Throws `github_app_unreadable` with the mistake, and never with content of the file. */
export function readGitHubApp(file: string): AppCredentials {
  const parsed = schema.safeParse(jsonOf(file))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw unreadable(file, `${issue?.path.join('.') || 'the content'} is wrong: ${issue?.message ?? ''}`)
  }
  const { appId, privateKey, privateKeyFile, webhookSecrets } = parsed.data
  if ((privateKey === undefined) === (privateKeyFile === undefined)) {
    throw unreadable(file, 'either "privateKey" or "privateKeyFile" is needed')
  }
  const key = privateKey ?? textOf(path.resolve(path.dirname(file), privateKeyFile ?? ''))
  try {
    createPrivateKey(key)
  } catch (error) {
    throw unreadable(file, 'the private key is no PEM of a private key', error)
  }
  return { appId, privateKey: key, webhookSecrets }
}

function jsonOf(file: string): unknown {
  const text = textOf(file)
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable(file, 'the content is no JSON') // without the parser's message, which quotes the text
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw unreadable(file, isMissing ? 'the file does not exist' : 'the file may not be read', error)
  }
}

function unreadable(file: string, why: string, cause?: unknown): CommandFailure {
  return new CommandFailure('github_app_unreadable', `${file} can't be used: ${why}.`, REMEDY, 'usage', { cause })
}
