/** The stand-in without server and storage: routes, layers, and the actions of people, over any storage and any git. */
import { createApi } from './api.ts'
import { type AppIdentity, createAuthentication } from './authentication.ts'
import type { Controls } from './controls.ts'
import { createFaults, type Faults } from './faults.ts'
import type { OpenGit } from './git/git.ts'
import type { Layer } from './http.ts'
import { createLags } from './lags.ts'
import { type Counted, contentCreationLimit } from './limits.ts'
import { pageRoutes } from './page/routes.ts'
import { PullRequests } from './pulls.ts'
import type { RandomSource } from './random-source.ts'
import { rateHeaders } from './rate-headers.ts'
import { appRoutes } from './routes/app.ts'
import { checkRoutes } from './routes/checks.ts'
import { commentRoutes } from './routes/comments.ts'
import { pullRoutes } from './routes/pulls.ts'
import { repositoryRoutes } from './routes/repository.ts'
import { reviewRoutes } from './routes/reviews.ts'
import { snapshotOf } from './snapshot.ts'
import type { Storage } from './store/storage.ts'
import { createStore } from './store/store.ts'
import { WebhookSender } from './webhooks.ts'
import { World } from './world.ts'

export interface StandInDeps {
  app: AppIdentity
  storage: Storage
  openGit: OpenGit
  random: RandomSource
  now: () => number
  /** The API's root, asked late. */
  url: () => string
  /** The lag of all reads. */
  lagMs: number
  /** The calls that the limits on content creation count; undefined: no limits. */
  limited: Counted | undefined
  /** The layer directly around the routes, inside all others: its calls are the calls that take effect. */
  innermost?: Layer
}

export function createStandIn({ app, storage, openGit, random, now, url, lagMs, limited, innermost }: StandInDeps) {
  const store = createStore(storage, now)
  const world = new World(app, store, openGit, now)
  const webhooks = new WebhookSender(store, app, random, now)
  const authentication = createAuthentication(app, store, random, now)
  const routes = [
    ...appRoutes(world, authentication),
    ...pullRoutes(world),
    ...reviewRoutes(world),
    ...commentRoutes(world),
    ...checkRoutes(world),
    ...repositoryRoutes(world),
    ...pageRoutes(world),
  ]
  const faults: Faults = createFaults(routes, now)
  const lags = createLags(routes, lagMs)
  const layers = [
    rateHeaders(now),
    faults.layer,
    ...(limited === undefined ? [] : [contentCreationLimit(limited, now)]),
    lags.layer,
    ...(innermost === undefined ? [] : [innermost]),
  ]
  const api = createApi(routes, layers, authentication, random, now)
  const pulls = new PullRequests(world, webhooks, url)

  const controls: Controls = {
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
    fail: (fault) => faults.inject(fault),
    lag: (lag) => lags.inject(lag),
    heal() {
      faults.heal()
      lags.heal()
    },
    deliveries: () => webhooks.deliveries(),
    pullRequest(repository, number) {
      const found = world.repositoryNamed(repository)
      return snapshotOf(store, found, world.pullNumbered(found, number))
    },
    requests: () => api.requests(),
    observe: (listener) => api.observe(listener),
  }
  return { api, controls, faults, store, webhooks, world }
}
