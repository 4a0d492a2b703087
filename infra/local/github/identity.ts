/**
 * Ids that follow from names: a repository, an account or an installation keeps its id even when the stand-in's state
 * is deleted and made again.
 */
import { createHash } from 'node:crypto'

/** Hashed ids are below 2³¹, far inside the numbers of every client, as GitHub's own ids are. */
const HASHED_ID_BITS = 31

/** GitHub compares names without case. */
function hashedId(kind: string, name: string): number {
  const key = `${kind}:${name.toLowerCase()}`
  const known = hashed.get(key)
  if (known !== undefined) return known
  const id = createHash('sha256').update(key).digest().readUInt32BE(0) % 2 ** HASHED_ID_BITS
  if (hashed.size === HASHED_KEPT_MAX) hashed.clear()
  hashed.set(key, id)
  return id
}

/** One answer names the same few accounts a dozen times. */
const hashed = new Map<string, number>()
const HASHED_KEPT_MAX = 10_000

export function repositoryId(owner: string, name: string): number {
  return hashedId('repository', `${owner}/${name}`)
}

export function accountId(login: string): number {
  return hashedId('account', login)
}

/** The App has one installation for each account that owns a repository here. */
export function installationId(owner: string): number {
  return hashedId('installation', owner)
}

export function labelId(repository: number, name: string): number {
  return hashedId('label', `${repository}/${name}`)
}

/** GraphQL's id of an object: opaque to clients, different for each kind. */
export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64')
}
