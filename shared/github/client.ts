/** Opens GitHub for a container, with a client, a memory of tokens and a signer for all installations. */
import { GITHUB_IDENTITY_MS } from '../base/limits.ts'
import { type Caller, createCaller } from './caller.ts'
import { checkRunsOf } from './check-runs.ts'
import { conversationOf } from './conversation.ts'
import { type Credentials, createTokenMemory, jwtSigner } from './credentials.ts'
import type { GitHub, Identity } from './github.ts'
import { readingOf } from './read.ts'
import { reviewsOf } from './reviews.ts'

export interface GitHubOptions {
  /** Root of the REST API, without a trailing slash: `https://api.github.com`, or a GitHub Enterprise Server's `…/api/v3`. */
  readonly baseUrl: string
  /** ms UTC; the system's clock by default. */
  readonly now?: () => number
}

/** Opens GitHub for an installation. Calls end early when `signal` aborts, and at their own deadline in any case. */
export type OpenInstallation = (installationId: number, signal?: AbortSignal) => GitHub

/**
 * A client for the App of `credentials`, with one memory of tokens. Opening makes no call; throws Refused
 * `secret_missing` for an unreadable private key.
 */
export function openGitHub(credentials: Credentials, options: GitHubOptions): OpenInstallation {
  const now = options.now ?? Date.now
  const signJwt = jwtSigner(credentials, now)
  const tokens = createTokenMemory(now)
  let known: { readonly identity: Identity; readonly readAt: number } | undefined

  return (installationId, signal) => {
    const { baseUrl } = options
    const caller = createCaller({ baseUrl, appId: credentials.appId, installationId, signJwt, tokens, now, signal })

    /** A failed read is never kept. */
    async function identity(): Promise<Identity> {
      if (known === undefined || now() - known.readAt >= GITHUB_IDENTITY_MS) {
        known = { identity: await readIdentity(caller), readAt: now() }
      }
      return known.identity
    }

    return {
      identity,
      ...readingOf(caller),
      ...reviewsOf(caller, identity),
      ...conversationOf(caller, identity),
      ...checkRunsOf(caller, identity),
    }
  }
}

/** The App's name comes from the App, and the id of its bot account from GitHub's users. */
async function readIdentity(caller: Caller): Promise<Identity> {
  const app = await caller.call('GET /app', {})
  if (app.data === null || app.data.slug === undefined) throw new TypeError('GET /app named no slug')
  const bot = await caller.call('GET /users/{username}', { username: `${app.data.slug}[bot]` })
  return { login: bot.data.login, id: Number(bot.data.id), appId: Number(app.data.id) }
}
