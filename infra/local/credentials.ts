/**
 * Muster's identity on this machine: an App id, a key and a webhook secret, made once and kept in a file for their
 * owner only.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The content of the secret `github-app`. */
export interface AppCredentials {
  readonly appId: number
  readonly privateKey: string
  readonly webhookSecrets: readonly string[]
}

/** The App id of a stand-in; any number would do. */
const STAND_IN_APP_ID = 1

/** Reads the credentials in `file`, or makes new credentials. */
export async function standInCredentials(file: string): Promise<AppCredentials> {
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (known !== undefined) return JSON.parse(known) as AppCredentials
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048, // bits, as in GitHub's own keys for an App
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const credentials = { appId: STAND_IN_APP_ID, privateKey, webhookSecrets: [randomBytes(32).toString('hex')] }
  await mkdir(dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, JSON.stringify(credentials), { mode: 0o600 })
  await rename(temporary, file)
  return credentials
}
