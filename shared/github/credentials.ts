/** The App's credentials at GitHub: its JWT, and the memory for the installation tokens bought with the JWT. */
import { createPrivateKey, sign } from 'node:crypto'
import { Refused } from '../base/errors.ts'
import { GITHUB_JWT_BACKDATE_S, GITHUB_JWT_VALID_S, GITHUB_TOKEN_RENEW_MS } from '../base/limits.ts'

export interface Credentials {
  readonly appId: number
  /** PEM, PKCS #1 (GitHub's own format) or PKCS #8. */
  readonly privateKey: string
}

/** Signs the App's JWTs; `clockOffsetS` is the lead of GitHub's clock over ours, from its Date header (AW82). */
export type SignJwt = (
  appId: number | string,
  clockOffsetS?: number,
) => Promise<{ readonly jwt: string; readonly expiresAt: string }>

/**
 * A signer for `privateKey`. Throws Refused `secret_missing`, without the key's text, if it is no private key. A JWT is
 * valid from GITHUB_JWT_BACKDATE_S before now to GITHUB_JWT_VALID_S after now.
 */
export function jwtSigner({ privateKey }: Credentials, now: () => number): SignJwt {
  const key = readKey(privateKey)
  return async (appId, clockOffsetS = 0) => {
    const nowS = Math.floor(now() / 1000) + clockOffsetS
    const exp = nowS + GITHUB_JWT_VALID_S
    const unsigned = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded({ iat: nowS - GITHUB_JWT_BACKDATE_S, exp, iss: String(appId) })}`
    const signature = sign('RSA-SHA256', Buffer.from(unsigned), key).toString('base64url')
    return { jwt: `${unsigned}.${signature}`, expiresAt: new Date(exp * 1000).toISOString() }
  }
}

/** Tokens by installation. One memory per container, as long-lived as its client. */
export interface TokenMemory {
  get(installation: string): string | undefined
  set(installation: string, token: string): void
  delete(installation: string): void
}

/** Forgets a token at GITHUB_TOKEN_RENEW_MS: the last minutes of its hour are never used (AW83). */
export function createTokenMemory(now: () => number): TokenMemory {
  const tokens = new Map<string, { readonly token: string; readonly keptAt: number }>()
  return {
    get(installation) {
      const kept = tokens.get(installation)
      return kept !== undefined && now() - kept.keptAt < GITHUB_TOKEN_RENEW_MS ? kept.token : undefined
    },
    set(installation, token) {
      tokens.set(installation, { token, keptAt: now() })
    },
    delete(installation) {
      tokens.delete(installation)
    },
  }
}

function readKey(privateKey: string) {
  try {
    return createPrivateKey(privateKey)
  } catch {
    // The cause is left out on purpose: OpenSSL's words about a key belong in no log.
    throw new Refused(
      'secret_missing',
      "the GitHub App's private key can't be read as a PEM private key",
      'Store the whole .pem file that GitHub gave out, with its line breaks.',
    )
  }
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
