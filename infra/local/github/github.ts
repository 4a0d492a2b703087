/**
 * A GitHub for one machine: the part of its API that a reviewer uses, over real git repositories, with GitHub's rules,
 * signed webhooks, and a page for each pull request that people can look at.
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
  /** Where the state is kept; without it, in memory. One process at a time. */
  directory?: string
  /** Milliseconds since 1970; also the `Date` of answers, and what tokens expire by. */
  now?: () => number
  app: AppIdentity
  /** GET requests show the state of so many milliseconds ago, as a replica behind its primary would; `lag` is for one route. */
  lagMs?: number
  /** True: more than 80 changes a minute or 500 an hour of one installation are refused, as GitHub does. */
  secondaryLimits?: boolean
}

/** At `url`: the REST API (also under `/api/v3`), and a page per pull request at `/<owner>/<repo>/pull/<n>`. */
export interface GitHubStandIn extends LocalService, Controls {
  /** Sends a delivery once more, under the same `X-GitHub-Delivery`; resolves when that attempt has ended. */
  redeliver(deliveryId: string): Promise<void>
  /** Resolves at the next change of anything. Ask before looking, or a change in between is missed. */
  changed(): Promise<void>
  /** Where webhooks go. Until it is known, they are recorded and wait. */
  setWebhookUrl(url: string): void
}

/**
 * Starts the stand-in. Everything that it has answered is on disk by then, so it may be killed at any moment; webhooks
 * that weren't handed over are sent by the next one on the same directory.
 * Rejects with `github_state_in_use` for a directory in use.
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
