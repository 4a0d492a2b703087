/**
 * A GitHub for one machine: the part of its API that a reviewer uses, over real git repositories, with GitHub's rules,
 * signed webhooks, and a page for each pull request that people can look at.
 */
import { type LocalService, serve } from '../service.ts'
import { type AppIdentity, createAuthentication } from './authentication.ts'
import { createFaults, type Failing, type Fault } from './faults.ts'
import { contentCreationLimit } from './limits.ts'
import { pageRoutes } from './page/routes.ts'
import type { AppPermissions } from './permissions.ts'
import { type NewPullRequest, type NewRepository, type PullRequestEdit, PullRequests } from './pulls.ts'
import { rateHeaders } from './rate.ts'
import type { Delivery, Permission, Repository } from './records.ts'
import { appRoutes } from './routes/app.ts'
import { checkRoutes } from './routes/checks.ts'
import { commentRoutes } from './routes/comments.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { pullRoutes } from './routes/pulls.ts'
import { commitRoute, repositoryRoutes } from './routes/repository.ts'
import { reviewRoutes } from './routes/reviews.ts'
import { createApiServer, type Exchange, type RecordedRequest } from './server.ts'
import { type PullRequestSnapshot, snapshotOf } from './snapshot.ts'
import { openStore } from './store.ts'
import { WebhookSender } from './webhooks.ts'
import { World } from './world.ts'

export type {
  AppIdentity,
  AppPermissions,
  Delivery,
  Exchange,
  Failing,
  Fault,
  NewPullRequest,
  NewRepository,
  PullRequestEdit,
  PullRequestSnapshot,
  RecordedRequest,
  Repository,
}

export interface GitHubOptions {
  /** Where the state is kept; without it, in memory. One process at a time. */
  directory?: string
  /** 0 or absent takes any free port. */
  port?: number
  /** Milliseconds since 1970; also the `Date` of answers, and what tokens expire by. */
  now?: () => number
  app: AppIdentity
  /** Where webhooks go. Until it is known, they are recorded and wait. */
  webhookUrl?: string
  /** GET requests show the state of so many milliseconds ago, as a replica behind its primary would. */
  lagMs?: number
  /** True: more than 80 changes a minute or 500 an hour of one installation are refused, as GitHub does. */
  secondaryLimits?: boolean
}

/** At `url`: the REST API (also under `/api/v3`), and a page per pull request at `/<owner>/<repo>/pull/<n>`. */
export interface GitHubStandIn extends LocalService {
  /** Adds a repository, or updates the one of that name; its id depends on its name alone. */
  addRepository(input: NewRepository): Promise<Repository>
  /** Gives a person a role, e.g. `write`; the owner has `admin`, everybody else reads what is public. */
  setPermission(repository: string, login: string, permission: Permission): void
  /** Opens another pull request and sends `opened`; resolves with its number, not waiting for the delivery. */
  openPullRequest(input: NewPullRequest): Promise<number>
  /** A push to the head branch: `synchronize`. The same SHA again does nothing. */
  pushHead(repository: string, number: number, headSha: string): Promise<void>
  /** `edited`, with what it was before; nothing if nothing differs. */
  edit(repository: string, number: number, changes: PullRequestEdit): Promise<void>
  setDraft(repository: string, number: number): Promise<void>
  markReady(repository: string, number: number): Promise<void>
  closePullRequest(repository: string, number: number, merged?: boolean): Promise<void>
  /** `reopened`, at another head if one is given, and with other texts or another base: what changed while it was closed. */
  reopenPullRequest(repository: string, number: number, headSha?: string, meanwhile?: PullRequestEdit): Promise<void>
  /** A person comments on the pull request: `issue_comment`. The comment's id. */
  comment(repository: string, number: number, login: string, body: string): number
  /** What the App may do from now on, wherever it is installed; what isn't named isn't granted. */
  setAppPermissions(permissions: AppPermissions): void
  /** Makes coming requests to a route fail in a way that GitHub does; the first fault ordered strikes first. */
  fail(fault: Fault): Failing
  /** Ends all faults. */
  heal(): void
  /** Sends a delivery once more, under the same `X-GitHub-Delivery`; resolves when that attempt has ended. */
  redeliver(deliveryId: string): Promise<void>
  /** Every attempt to deliver, oldest first. */
  deliveries(): Delivery[]
  pullRequest(repository: string, number: number): PullRequestSnapshot
  /** The last 10,000 requests; `route` is null for those that no route knows. */
  requests(): readonly RecordedRequest[]
  /** Tells of every exchange from now on, whole, before its answer goes out. */
  observe(listener: (exchange: Exchange) => void): void
  /** Resolves at the next change of anything. Ask before looking, or a change in between is missed. */
  changed(): Promise<void>
  setWebhookUrl(url: string): void
}

/**
 * Starts the stand-in. Everything that it has answered is on disk by then, so it may be killed at any moment; webhooks
 * that weren't handed over are sent by the next one on the same directory.
 * Rejects with `EADDRINUSE` for a port in use and `github_state_in_use` for a directory in use.
 */
export async function startGitHub(options: GitHubOptions): Promise<GitHubStandIn> {
  const now = options.now ?? Date.now
  const store = openStore({ directory: options.directory, now, lagMs: options.lagMs ?? 0 })
  const world = new World(options.app, store, now)
  const webhooks = new WebhookSender(store, options.app, now)
  const authentication = createAuthentication(options.app, store, now)
  const routes = [
    ...appRoutes(world, authentication),
    ...deliveryRoutes(world, webhooks),
    ...pullRoutes(world),
    ...reviewRoutes(world),
    ...commentRoutes(world),
    ...checkRoutes(world),
    ...repositoryRoutes(world),
    commitRoute(world),
    ...pageRoutes(world),
  ]
  const faults = createFaults(routes, now)
  const layers = [rateHeaders(now), faults.layer, ...(options.secondaryLimits ? [contentCreationLimit(now)] : [])]
  const api = createApiServer(routes, layers, authentication, now)
  const service = await serve(api.listener, options.port).catch((error: unknown) => {
    store.close()
    throw error
  })
  const pulls = new PullRequests(world, webhooks, service.url)
  if (options.webhookUrl !== undefined) webhooks.setEndpoint(options.webhookUrl)
  let closing: Promise<void> | undefined

  return {
    url: service.url,
    addRepository: (input) => pulls.addRepository(input),
    setPermission: (repository, login, permission) => pulls.setPermission(repository, login, permission),
    openPullRequest: (input) => pulls.open(input),
    pushHead: (repository, number, headSha) => pulls.pushHead(repository, number, headSha),
    edit: (repository, number, changes) => pulls.edit(repository, number, changes),
    setDraft: (repository, number) => pulls.setDraft(repository, number),
    markReady: (repository, number) => pulls.markReady(repository, number),
    closePullRequest: (repository, number, merged = false) => pulls.close(repository, number, merged),
    reopenPullRequest: (repository, number, headSha, meanwhile) => pulls.reopen(repository, number, headSha, meanwhile),
    comment: (repository, number, login, body) => pulls.comment(repository, number, login, body),
    setAppPermissions(permissions) {
      world.app.permissions = { metadata: 'read', ...permissions }
    },
    fail: (fault) => faults.fail(fault),
    heal: () => faults.heal(),
    redeliver: (deliveryId) => webhooks.redeliver(deliveryId),
    deliveries: () => webhooks.deliveries(),
    pullRequest(repository, number) {
      const found = world.repositoryNamed(repository)
      return snapshotOf(store, found, world.pullNumbered(found, number))
    },
    requests: () => api.requests(),
    observe: (listener) => api.observe(listener),
    changed: () => store.changed(),
    setWebhookUrl: (url) => webhooks.setEndpoint(url),
    close() {
      closing ??= (async () => {
        await service.close()
        faults.close()
        await api.settled()
        await webhooks.close()
        await world.close()
        store.close()
      })()
      return closing
    },
  }
}
