/** Routes of the App itself: identity, bot, and tokens for installations. */
import { type Authentication, botOf } from '../authentication.ts'
import { type Call, notFound, ok, Refusal, type Route } from '../http.ts'
import { accountId, installationId } from '../identity.ts'
import { appJson, publicUserJson, tokenJson } from '../representations/account.ts'
import { TOP } from '../store/store.ts'
import type { World } from '../world.ts'

export function appRoutes(world: World, authentication: Authentication): Route[] {
  return [
    {
      method: 'GET',
      pattern: '/app',
      handle: (call) => {
        requireApp(call)
        return ok(appJson(call.url.origin, world.app))
      },
    },
    {
      method: 'POST',
      pattern: '/app/installations/:id/access_tokens',
      handle: (call) => {
        requireApp(call)
        const id = Number(call.params.id)
        const known = world.store.list('repository', TOP).some(({ owner }) => installationId(owner) === id)
        if (!known) throw notFound()
        const { token, expiresAt } = authentication.issueToken(id)
        return { status: 201, json: tokenJson(world.app, token, expiresAt) }
      },
    },
    {
      method: 'GET',
      pattern: '/users/:login',
      handle: (call) => {
        const { login = '' } = call.params
        const bot = botOf(world.app)
        const isBot = accountId(login) === accountId(bot.login)
        return ok(publicUserJson(call.url.origin, isBot ? bot : { login, type: 'User' }))
      },
    },
  ]
}

/** These routes take the App's JWT, no token. */
function requireApp(call: Call): void {
  if (call.actor.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded')
}
