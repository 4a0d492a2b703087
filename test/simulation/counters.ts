/**
 * Events that must happen sometimes if the simulation is to mean anything: each by name, with the count of its seeds.
 */
import { FAILPOINTS } from '../../shared/base/failpoints.ts'
import { ACTION_KINDS } from './scenario/script.ts'
import { FAULT_KINDS } from './scenario/storm.ts'

/** Refusals, losses, take-backs, waits and discoveries of the product; the witness in witness.ts sees each. */
const EVENTS = [
  'delivery replayed',
  'delivery joins',
  'delivery raises the attempt',
  'delivery ignored',
  'delivery answered 5xx',
  'idempotency_conflict',
  'condition refused',
  'transaction_conflict',
  'transaction cancelled by a condition',
  'unknown resolved by read-back',
  'run held',
  'run resumed',
  'run reviewed',
  'run superseded',
  'run closed',
  'run cancelled',
  'run failed',
  'verdict incomplete',
  'verdict changes_requested',
  'head not visible yet',
  'attempt_waits',
  'halted',
  'plan replayed',
  'shown again',
  'analyzers only',
  'second reading',
  'grant void',
  'ticket waits',
  'fleet drains',
  'lease_held',
  'stale_fence',
  'lease renewed',
  'take-back',
  'dead worker taken back',
  'lost too often',
  'review failed',
  'made before',
  'dead token answered',
  'parked',
  'probe',
  'pool opened',
  'pool opened while its probe is read',
  'message withdrawn',
  'message said',
  'message said by a second look',
  'message failed',
  'second look',
  'pending review deleted',
  'budget closed',
  'throttled at GitHub',
  'refused by GitHub with 422',
  'reply said',
  'round counted',
  'execution failed',
  'execution stopped',
  'function timed out',
  'sweep took up a run',
  'limits refused',
  'dead letter',
] as const
export type SimulatedEvent = (typeof EVENTS)[number]

/** All counted names, in the order of print. */
export const SOMETIMES = [
  ...ACTION_KINDS.map((kind) => `action: ${kind}` as const),
  ...FAULT_KINDS.map((kind) => `fault: ${kind}` as const),
  ...FAILPOINTS.map((point) => `crash after: ${point}` as const),
  ...EVENTS.map((event) => `event: ${event}` as const),
]
export type Sometimes = (typeof SOMETIMES)[number]

/** Count of seeds with the event, by name. */
export type SeedCounts = ReadonlyMap<Sometimes, number>

export function addSeed(counts: Map<Sometimes, number>, seen: Iterable<Sometimes>): void {
  for (const what of seen) counts.set(what, (counts.get(what) ?? 0) + 1)
}

/** The events of no seed. */
export function never(counts: SeedCounts): Sometimes[] {
  return SOMETIMES.filter((what) => !counts.has(what))
}

/** The table as text: each event with its count of seeds. */
export function tableOf(counts: SeedCounts): string {
  const width = Math.max(...SOMETIMES.map(({ length }) => length))
  return SOMETIMES.map((what) => `${what.padEnd(width)} ${String(counts.get(what) ?? 0).padStart(7)}`).join('\n')
}
