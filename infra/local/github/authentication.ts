/**
 * The caller's identity: the App itself, by a signed JWT, or one of its installations, by a token with a life of an
 * hour.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { type Actor, Refusal } from './http.ts'
import type { AppPermissions } from './permissions.ts'
import type { RandomSource } from './random-source.ts'
import type { Account, Token } from './records.ts'
import { type Store, TOP } from './store/store.ts'

export interface AppIdentity {
  id: number
  slug: string
  /** PEM; the stand-in uses only the public half, to check the App's JWTs. */
  privateKey: string
  webhookSecret: string
}

/** The App with its granted permissions. */
export interface InstalledApp extends AppIdentity {
  permissions: AppPermissions
}

export interface Authentication {
  /** Throws GitHub's 401 for anything but valid credentials; no credentials at all are `nobody`. */
  identify(headers: IncomingHttpHeaders): Actor
  issueToken(installationId: number): { token: string; expiresAt: number }
}

/** "Installation tokens expire one hour from the time you create them": docs.github.com, apps. */
const TOKEN_LIFE_MS = 3_600_000

/** GitHub's tokens have 36 characters after their prefix. */
const TOKEN_BYTES = 18

/** "exp … no more than 10 minutes into the future": docs.github.com, generating a JWT. */
const JWT_AHEAD_SECONDS_MAX = 600

const Header = z.object({ alg: z.literal('RS256') })
const Claims = z.object({ iss: z.union([z.string(), z.number()]), iat: z.number(), exp: z.number() })

/** The account under which the App's installations write. */
export function botOf(app: AppIdentity): Account {
  return { login: `${app.slug}[bot]`, type: 'Bot' }
}

export function createAuthentication(
  app: AppIdentity,
  store: Store,
  random: RandomSource,
  now: () => number,
): Authentication {
  const publicKey = createPublicKey(app.privateKey)
  return {
    identify(headers) {
      const credentials = /^(?:bearer|token) +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
      if (credentials === undefined) {
        if (headers.authorization !== undefined) throw badCredentials()
        return { kind: 'nobody' }
      }
      if (credentials.split('.').length === 3) {
        checkJwt(credentials, app, publicKey, Math.floor(now() / 1_000))
        return { kind: 'app' }
      }
      const token = store.get('token', digestOf(credentials))
      if (token === undefined || token.expiresAt <= now()) throw badCredentials()
      return { kind: 'installation', installationId: token.installationId, account: botOf(app) }
    },
    issueToken(installationId) {
      const token = `ghs_${random.hex(TOKEN_BYTES)}`
      const record: Token = { digest: digestOf(token), installationId, expiresAt: now() + TOKEN_LIFE_MS }
      store.change((writer) => writer.put('token', record.digest, TOP, record))
      return { token, expiresAt: record.expiresAt }
    },
  }
}

/** GitHub's own sentences: clients tell a wrong clock from a wrong key by the sentence. */
function checkJwt(jwt: string, app: AppIdentity, publicKey: KeyObject, nowSeconds: number): void {
  const [header = '', payload = '', signature = ''] = jwt.split('.')
  const claims = Claims.safeParse(decode(payload))
  const signed = Buffer.from(`${header}.${payload}`)
  if (
    !Header.safeParse(decode(header)).success ||
    !claims.success ||
    !verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))
  ) {
    throw new Refusal(401, 'A JSON web token could not be decoded')
  }
  const { iss, iat, exp } = claims.data
  if (String(iss) !== String(app.id)) throw new Refusal(404, 'Integration not found')
  if (iat > nowSeconds) {
    throw new Refusal(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    )
  }
  if (exp <= nowSeconds) {
    throw new Refusal(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    )
  }
  if (exp > nowSeconds + JWT_AHEAD_SECONDS_MAX) {
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
  }
}

/** The JSON of one part of a JWT; undefined for anything but JSON, which no schema accepts. */
function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function badCredentials(): Refusal {
  return new Refusal(401, 'Bad credentials')
}
