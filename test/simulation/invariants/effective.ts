/**
 * Effective limits, computed without the product's code: as much as is configured and every ceiling allows, at least
 * one slot.
 */
import type { FleetItem, LimitsItem } from './items.ts'

/** Slots of one fleet item at most. */
const FLEET_CEILING = 200
/** Slots of external workers at most. */
const EXTERNAL_CEILING = 16

export function effectiveFleet({ enabled, configured, accountQuota }: LimitsItem): number {
  return enabled ? clamped(configured, FLEET_CEILING, accountQuota) : 1
}

export function effectivePool(limits: LimitsItem, pool: string): number {
  const { enabled = true, configured } = limits.pools?.[pool] ?? {}
  const ceiling = pool === 'external' ? EXTERNAL_CEILING : FLEET_CEILING
  return enabled ? clamped(configured, ceiling, effectiveFleet(limits)) : 1
}

export function effectiveRepository(limits: LimitsItem): number {
  return clamped(limits.perRepository, effectiveFleet(limits))
}

/** Slots held in all, or in one repository or pool. */
export function held({ slots }: FleetItem, of: { readonly repository?: number; readonly pool?: string } = {}): number {
  const { repository, pool } = of
  return Object.values(slots).filter(
    (slot) => (repository ?? slot.repository) === slot.repository && (pool ?? slot.pool) === slot.pool,
  ).length
}

function clamped(...bounds: readonly (number | undefined)[]): number {
  return Math.max(1, Math.min(...bounds.map((bound) => bound ?? Number.POSITIVE_INFINITY)))
}
