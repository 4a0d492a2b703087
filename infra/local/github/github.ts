/**
 * A GitHub for one machine: the part of GitHub's API that a reviewer uses, over real git repositories, with GitHub's
 * rules, signed webhooks, and a page for each pull request.
 */
import { type LocalService, serve } from '../service.ts'
import type { AppIdentity } from './authentication.ts'
import type { Controls } from './controls.ts'
import { GitRepository } from './git/repository.ts'
import { everyChange } from './limits.ts'
import { systemRandomSource } from './random-source.ts'
import { createApiServer } from './server.ts'
import { createStandIn } from './stand-in.ts'
import { memoryStorage } from './store/memory.ts'
import { sqliteStorage } from './store/sqlite.ts'

export interface GitHubOptions {
  /** The folder of the state; absent: in memory. One process at a time. */
  directory?: string
  /** Milliseconds since 1970; also the `Date` of answers, and the clock of token expiry. */
  now?: () => number
  app: AppIdentity
  /**
   * GET requests show the state of this many milliseconds ago, as a replica behind its primary would; `lag` is for one
   * route.
   */
  lagMs?: number
  /** True: more than 80 changes a minute or 500 an hour of one installation are refused, as GitHub does. */
  secondaryLimits?: boolean
}

/** At `url`: the REST API (also under `/api/v3`), and a page for each pull request at `/<owner>/<repo>/pull/<n>`. */
export interface GitHubStandIn extends LocalService, Controls {
  /** Sends a delivery once more, under the same `X-GitHub-Delivery`; resolves at the end of that attempt. */
  redeliver(deliveryId: string): Promise<void>
  /**
   * Resolves at the next change of any record. A caller asks before a look, because a change in between would be
   * missed.
   */
  changed(): Promise<void>
  /** The URL of the webhooks. Webhooks are recorded and wait until the URL is set. */
  setWebhookUrl(url: string): void
}

/**
 * Starts the stand-in. Every answered change is on disk before the answer, so the process may be killed at any moment;
 * the next start on the same directory sends unfinished webhooks. Rejects with `github_state_in_use` for a directory in
 * use.
 */
export async function startGitHub(options: GitHubOptions): Promise<GitHubStandIn> {
  const now = options.now ?? Date.now
  let url = ''
  const { api, controls, faults, store, webhooks, world } = createStandIn({
    app: options.app,
    storage: options.directory === undefined ? memoryStorage() : sqliteStorage(options.directory),
    openGit: GitRepository.open,
    random: systemRandomSource,
    now,
    url: () => url,
    lagMs: options.lagMs ?? 0,
    limited: options.secondaryLimits ? everyChange : undefined,
  })
  const server = createApiServer(api, systemRandomSource, now)
  const service = await serve(server.listener)
  url = service.url
  let closing: Promise<void> | undefined

  return {
    ...controls,
    url,
    redeliver: (deliveryId) => webhooks.redeliver(deliveryId),
    changed: () => store.changed(),
    setWebhookUrl: (webhookUrl) => webhooks.setEndpoint(webhookUrl),
    close() {
      closing ??= (async () => {
        await service.close()
        faults.close()
        await server.settled()
        await webhooks.close()
        await world.close()
        store.close()
      })()
      return closing
    },
  }
}
