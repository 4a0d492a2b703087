/** Routes of the App's webhook deliveries: what GitHub tried to hand over, and the only way to have it tried again. */
import { type Answer, type Call, notFound, ok, Refusal, type Route } from '../http.ts'
import { pageOf } from '../pagination.ts'
import type { Delivery } from '../records.ts'
import { deliveryId, deliverySequence, deliveryShape, deliverySimpleShape } from '../shapes/delivery.ts'
import type { WebhookSender } from '../webhooks.ts'
import type { World } from '../world.ts'
import { requireApp } from './app.ts'

/** "You can redeliver webhook deliveries that occurred in the past 3 days": docs.github.com, redelivering webhooks; older ones are gone. */
const DELIVERIES_KEPT_MS = 3 * 86_400_000

/** Where a page begins: the id of its first delivery. Opaque to clients. */
const CURSOR = /^v1_(\d{1,19})$/

export function deliveryRoutes(world: World, webhooks: WebhookSender): Route[] {
  const base = '/app/hook/deliveries'

  /** Attempts that have ended, newest first: GitHub lists nothing that is still under way. */
  const listed = (): Delivery[] =>
    webhooks
      .deliveries()
      .filter(({ result, recordedAt }) => result !== null && recordedAt > world.now() - DELIVERIES_KEPT_MS)
      .reverse()

  const find = (call: Call): Delivery => {
    requireApp(call)
    const sequence = deliverySequence(call.params.id ?? '')
    const delivery = listed().find((candidate) => candidate.sequence === sequence)
    if (delivery === undefined) throw notFound()
    return delivery
  }

  return [
    { method: 'GET', pattern: base, handle: (call) => list(call, listed) },
    {
      method: 'GET',
      pattern: `${base}/:id`,
      handle: (call) => {
        const delivery = find(call)
        return ok(deliveryShape(delivery, webhooks.headersOf(delivery), webhooks.endpoint))
      },
    },
    {
      method: 'POST',
      pattern: `${base}/:id/attempts`,
      handle: (call) => {
        webhooks.startRedelivery(find(call))
        return { status: 202, json: {} }
      },
    },
  ]
}

/** Pages have no numbers here: `cursor` names where the next one begins, so that new deliveries shift nothing. */
function list(call: Call, listed: () => Delivery[]): Answer {
  requireApp(call)
  const query = call.url.searchParams
  const cursor = query.get('cursor')
  const from = cursor === null ? null : CURSOR.exec(cursor)?.[1]
  if (from === undefined) throw new Refusal(422, 'Validation Failed', [{ code: 'invalid', field: 'cursor' }])
  const { size } = pageOf(call)
  const status = query.get('status')
  const wanted = listed().filter((delivery) => status === null || (status === 'success') === succeeded(delivery))
  const rest = from === null ? wanted : wanted.filter(({ sequence }) => sequence <= deliverySequence(from))
  const next = rest[size]
  const shown = rest.slice(0, size).map(deliverySimpleShape)
  if (next === undefined) return ok(shown)
  const url = new URL(call.url)
  url.searchParams.set('cursor', `v1_${deliveryId(next)}`)
  return ok(shown, { link: `<${url}>; rel="next"` })
}

function succeeded({ result }: Delivery): boolean {
  return result?.status != null && result.status >= 200 && result.status < 300
}
