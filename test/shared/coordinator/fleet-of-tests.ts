/** Reviews in tests of the coordinator: the steps of Admit, a worker and the sweeper, each on its own. */
import { randomUUID } from 'node:crypto'
import type { Coordinator } from '../../../shared/coordinator/coordinator.ts'
import { enqueue, grantSlots, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import { readFleet } from '../../../shared/ledger/fleet.ts'
import { awaitGrant, completeReview, leaseReview, readReview } from '../../../shared/ledger/review.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { type Review, reviewIdOf } from '../../../shared/runs/review.ts'
import type { Passed, World } from '../ledger/world.ts'
import { wantedReview } from '../samples.ts'

/** The review as written by Admit, not queued yet. */
export function asked(world: World, part: number, changes: Partial<Review> = {}): Promise<Review> {
  const wanted = wantedReview(part, changes) as ReturnType<typeof wantedReview>
  return awaitGrant(world.ledger, wanted, { writer: randomUUID(), now: world.now })
}

/** Admit as a whole: the review waits, or has its slot. */
export async function admitted(
  world: World,
  part: number,
  changes: Partial<Review> = {},
  coordinator: Coordinator = world.coordinator,
): Promise<Review> {
  await enqueue(coordinator, await asked(world, part, changes))
  return stored(world, part, changes)
}

export async function stored(world: World, part: number, changes: Partial<Review> = {}): Promise<Review> {
  const review = await readReview(world.ledger, wantedReview(part, changes) as ReturnType<typeof wantedReview>)
  if (!review) throw new Error(`Expected review ${part} to be stored, found none`)
  return review
}

/** A worker's whole work on a granted review: lease, completion, and, unless it dies before, the release. */
export async function worked(
  world: World,
  review: Review,
  options: { dies?: boolean; coordinator?: Coordinator } = {},
): Promise<string> {
  const { epoch } = review
  const owner = randomUUID()
  const leased = await leaseReview(world.ledger, review, { epoch, owner, now: world.now })
  if (leased.kind !== 'leased') return leased.kind
  const outcome = { state: 'completed', result: `result-of-${owner}`, findings: 0, blocking: 0 } as const
  const { kind } = await completeReview(world.ledger, review, { epoch, owner }, outcome)
  if (!options.dies) await grantSlots(options.coordinator ?? world.coordinator, [slotOf(review)])
  return kind
}

/** Review ids with a slot, by their part. */
export async function heldParts(world: World): Promise<number[]> {
  const { slots } = await readFleet(world.ledger)
  return Object.keys(slots)
    .map((id) => Number(id.slice(id.lastIndexOf('/') + 1)))
    .toSorted((a, b) => a - b)
}

/** Sort keys of markers and tickets. */
export async function waitingItems(world: World): Promise<{ markers: number; tickets: string[] }> {
  const items = await world.items()
  return {
    markers: items.filter(({ sk }) => String(sk).startsWith('WAITING#')).length,
    tickets: items.filter(({ pk }) => String(pk).startsWith('QUEUE#')).map(({ reviewId }) => String(reviewId)),
  }
}

/** Parts whose tokens were told of a grant, in order. */
export const toldParts = (world: World): number[] =>
  world.answers
    .filter(({ output }) => output.outcome === 'granted')
    .map(({ token }) => Number(token.slice(token.lastIndexOf('-') + 1)))

/** Matches a request for the item at a partition key. */
export const about =
  (operation: string, partition: string) =>
  (request: Passed): boolean =>
    request.operation === operation && JSON.stringify(request.body).includes(`"S":"${partition}`)

export const FLEET = keyOf.fleet().pk
export const idOf = (part: number, changes: Partial<Review> = {}): string =>
  reviewIdOf(wantedReview(part, changes) as ReturnType<typeof wantedReview>)
