/** The file of the secrets: JSON, for its owner only, replaced whole. */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

const versionSchema = z.strictObject({
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  stages: z.array(z.string()),
  string: z.string(),
})

const secretSchema = z.strictObject({
  createdAt: z.number(),
  changedAt: z.number(),
  versions: z.record(z.string(), versionSchema),
})

const contentSchema = z.record(z.string(), secretSchema)

export type SecretVersion = z.infer<typeof versionSchema>
export type Secret = z.infer<typeof secretSchema>
/** By name. */
export type Secrets = z.infer<typeof contentSchema>

export interface SecretsFile {
  /** The current content of the file: a person may have edited it. */
  read(): Secrets
  /** Changes the file by one rename: the end of the process leaves the old content or the new. */
  write(secrets: Secrets): void
}

const ownerOnly = 0o600
const othersBits = 0o077

/**
 * Opens `path`, made empty if absent. A file that others can read loses that permission, and `warn` gets a sentence,
 * because somebody may have read the secrets. A file in a foreign form is `secrets_file_invalid`.
 */
export function openSecretsFile(path: string, warn: (sentence: string) => void): SecretsFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })

  function write(secrets: Secrets): void {
    const temporary = `${path}.${randomUUID()}`
    try {
      const file = openSync(temporary, 'wx', ownerOnly)
      try {
        writeFileSync(file, `${JSON.stringify(secrets, undefined, 2)}\n`)
        fsyncSync(file) // keys can't be made again: they survive a power failure too
      } finally {
        closeSync(file)
      }
      renameSync(temporary, path)
    } finally {
      rmSync(temporary, { force: true })
    }
  }

  function read(): Secrets {
    closeToOthers(path, warn)
    try {
      return contentSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    } catch (cause) {
      throw new Error(
        `secrets_file_invalid: ${path} isn't a file of secrets (${reasonOf(cause)}). Correct the file, or move it away.`,
      )
    }
  }

  if (statSync(path, { throwIfNoEntry: false }) === undefined) write({})
  read()
  return { read, write }
}

function closeToOthers(path: string, warn: (sentence: string) => void): void {
  const mode = statSync(path).mode & 0o777
  if ((mode & othersBits) === 0) return
  chmodSync(path, ownerOnly)
  warn(
    `secrets_file_exposed: ${path} had mode 0${mode.toString(8)} and could be read or changed by others; it is 0600 now. Renew the secrets if others use this machine.`,
  )
}

/** The position and the kind of a mistake, never the text: a parser's message may quote a secret. */
function reasonOf(cause: unknown): string {
  if (cause instanceof z.ZodError) {
    return cause.issues.map(({ path, code }) => `${path.slice(0, 1).join('')}: ${code}`).join('; ')
  }
  return cause instanceof SyntaxError ? 'not JSON' : String(cause)
}
