/** Webhook deliveries, as GitHub's API writes them. */
import { installationId, repositoryId } from '../identity.ts'
import type { Delivery } from '../records.ts'
import { iso } from '../time.ts'
import type { Schemas } from './account.ts'

/**
 * GitHub's delivery ids have been beyond 2⁵³ since February 2026. From here on, four neighbours are one and the same
 * number to a client that reads ids as doubles: it would redeliver the wrong one.
 */
const DELIVERY_IDS_FROM = 2n ** 54n

const MS_PER_SECOND = 1_000

export function deliveryId({ sequence }: Delivery): bigint {
  return DELIVERY_IDS_FROM + BigInt(sequence)
}

/** The number of the attempt that an id out of an address stands for. */
export function deliverySequence(id: string): number {
  return Number(BigInt(id) - DELIVERY_IDS_FROM)
}

/** As the list shows it. A delivery that nobody answered has the status code 0. */
export function deliverySimpleShape(delivery: Delivery) {
  const { guid, recordedAt, redelivery, result, event, action, repository } = delivery
  const [owner = '', name = ''] = repository.split('/')
  return {
    id: deliveryId(delivery),
    guid,
    delivered_at: iso(recordedAt),
    redelivery,
    duration: (result?.durationMs ?? 0) / MS_PER_SECOND,
    status: result?.reason ?? '',
    status_code: result?.status ?? 0,
    event,
    action,
    installation_id: installationId(owner),
    repository_id: repositoryId(owner, name),
    throttled_at: null,
  } satisfies WithBigId<Schemas['hook-delivery-item']>
}

/** As it is shown alone: with what was sent and what came back. */
export function deliveryShape(delivery: Delivery, headers: Record<string, string>, url = '') {
  return {
    ...deliverySimpleShape(delivery),
    url,
    request: { headers, payload: JSON.parse(delivery.payload) },
    response: { headers: {}, payload: delivery.result?.responseBody ?? null },
  } satisfies WithBigId<Schemas['hook-delivery']>
}

/** GitHub's description says `number`, and its answers hold more digits than a double has. */
type WithBigId<T> = { [K in keyof T]: K extends 'id' ? bigint : T[K] }
