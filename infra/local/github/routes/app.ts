/** Routes of the App itself: who it is, where it is installed, and tokens to work there. */

import { type Authentication, botOf } from '../authentication.ts'
import { type Call, notFound, ok, Refusal, type Route } from '../http.ts'
import { accountId, installationId } from '../identity.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import { appShape, installationShape, publicUserShape, tokenShape } from '../shapes/account.ts'
import { repositoryShape } from '../shapes/repository.ts'
import { TOP } from '../store/store.ts'
import type { World } from '../world.ts'

export function appRoutes(world: World, authentication: Authentication): Route[] {
  const owners = () => [...new Set(world.store.list('repository', TOP).map(({ owner }) => owner))]
  const ownerOf = (call: Call): string => {
    requireApp(call)
    const owner = owners().find((candidate) => installationId(candidate) === Number(call.params.id))
    if (owner === undefined) throw notFound()
    return owner
  }
  return [
    {
      method: 'GET',
      pattern: '/app',
      handle: (call) => {
        requireApp(call)
        return ok(appShape(call.url.origin, world.app))
      },
    },
    {
      method: 'GET',
      pattern: '/app/installations',
      handle: (call) => {
        requireApp(call)
        const page = pageOf(call)
        const all = owners()
        const shown = slice(all, page).map((owner) => installationShape(call.url.origin, world.app, owner))
        return ok(shown, linkHeader(call, page, all.length))
      },
    },
    {
      method: 'GET',
      pattern: '/app/installations/:id',
      handle: (call) => ok(installationShape(call.url.origin, world.app, ownerOf(call))),
    },
    {
      method: 'POST',
      pattern: '/app/installations/:id/access_tokens',
      handle: (call) => {
        const { token, expiresAt } = authentication.issueToken(installationId(ownerOf(call)))
        return { status: 201, json: tokenShape(world.app, token, expiresAt) }
      },
    },
    {
      method: 'GET',
      pattern: '/repos/:owner/:repo/installation',
      handle: (call) => {
        requireApp(call)
        const { owner = '', repo = '' } = call.params
        const repository = world.store
          .list('repository', TOP)
          .find((each) => `${each.owner}/${each.name}`.toLowerCase() === `${owner}/${repo}`.toLowerCase())
        if (repository === undefined) throw notFound()
        return ok(installationShape(call.url.origin, world.app, repository.owner))
      },
    },
    {
      method: 'GET',
      pattern: '/installation/repositories',
      handle: (call) => {
        const { actor } = call
        if (actor.kind !== 'installation') throw new Refusal(401, 'Requires authentication')
        const all = world
          .readerFor(call)
          .list('repository', TOP)
          .filter(({ owner }) => installationId(owner) === actor.installationId)
        const page = pageOf(call)
        const repositories = slice(all, page).map((repository) => repositoryShape(call.url.origin, repository))
        return ok({ total_count: all.length, repositories }, linkHeader(call, page, all.length))
      },
    },
    {
      method: 'GET',
      pattern: '/users/:login',
      handle: (call) => {
        const { login = '' } = call.params
        const bot = botOf(world.app)
        const isBot = accountId(login) === accountId(bot.login)
        return ok(publicUserShape(call.url.origin, isBot ? bot : { login, type: 'User' }))
      },
    },
  ]
}

/** These routes take the App's JWT, no token. */
export function requireApp(call: Call): void {
  if (call.actor.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded')
}
