/**
 * Halts: for the fleet, an installation or a repository. While one stands nothing new is judged or posted. All
 * of them stand in one item, so that a claim and a conclusion check one item, whatever may stop them.
 */
import * as z from 'zod'
import { Refused } from '../base/errors.ts'
import { HALT_BY_BYTES_MAX, HALT_WHY_BYTES_MAX, HALTS_MAX } from '../base/limits.ts'
import { openWord, type Stored } from '../base/schema.ts'
import { cutAtBytes } from '../base/text.ts'
import { isPause } from '../runs/halt.ts'
import type { Repository } from '../runs/run.ts'
import { change, contended, type Item, itemAs, keyOf, type Ledger, read } from './table.ts'

/** What a halt stops: everything, the repositories of an installation, or one repository by its id. */
export type HaltScope = 'fleet' | `installation/${number}` | `repository/${number}`

/** The halts that stand, by scope. */
const haltsSchema = z.partialRecord(
  openWord<HaltScope>(),
  z.object({
    by: z.string(),
    why: z.string(),
    /** ms UTC */
    since: z.number(),
  }),
)
export type Halts = Stored<typeof haltsSchema>
type StandingHalt = NonNullable<Halts[HaltScope]>
export type Halt = StandingHalt & { readonly scope: HaltScope }

/** What lifting came to: it is gone, it stays because it isn't the asker's to lift, or none stood. */
export type Lifted = { readonly kind: 'lifted' | 'stays'; readonly halt: Halt } | { readonly kind: 'none' }

const itemSchema = z.object({ scopes: haltsSchema, version: z.number() })
type HaltsItem = Stored<typeof itemSchema>
const haltsFrom = (item: Item) => itemAs(itemSchema, item)

type Halted = Pick<Repository, 'id' | 'installationId'>

/** The scopes whose halt stops work on a repository, the widest first. */
export function haltScopesOf({ id, installationId }: Halted): HaltScope[] {
  return ['fleet', `installation/${installationId}`, `repository/${id}`]
}

/** Every halt that stands, in one consistent read. */
export async function standingHalts(ledger: Ledger): Promise<Halts> {
  return (await read(ledger, keyOf.halts(), haltsFrom))?.scopes ?? {}
}

/** The widest halt that stands for this repository; undefined if none does. Pure. */
export function haltOn(halts: Halts, repository: Halted): Halt | undefined {
  const scope = haltScopesOf(repository).find((candidate) => halts[candidate] !== undefined)
  const halt = scope && halts[scope]
  return halt && { scope, ...halt }
}

/** The widest halt that stands for this repository, read consistently; undefined if none does. */
export async function standingHalt(ledger: Ledger, repository: Halted): Promise<Halt | undefined> {
  return haltOn(await standingHalts(ledger), repository)
}

/**
 * Sets a halt and answers the one that stands for its scope: an earlier one is kept, so that setting it again changes
 * nothing (I9). Only an operator's halt takes the place of a pause, as of when that began: else a comment would lift it.
 * `by` and `why` are cut at HALT_BY_BYTES_MAX and HALT_WHY_BYTES_MAX. Throws Refused `halts_full` where HALTS_MAX stand
 * already, Retry `busy` where too many are changed at once.
 */
export async function setHalt(ledger: Ledger, halt: Halt): Promise<Halt> {
  const { scope } = halt
  const by = cutAtBytes(halt.by, HALT_BY_BYTES_MAX).text
  const why = cutAtBytes(halt.why, HALT_WHY_BYTES_MAX).text
  return contended<Halt>(async () => {
    const before = await read(ledger, keyOf.halts(), haltsFrom)
    const standing = before?.scopes[scope]
    if (standing && (isPause(halt) || !isPause(standing))) return { scope, ...standing }
    if (!standing && Object.keys(before?.scopes ?? {}).length >= HALTS_MAX) {
      const remedy = 'Lift some that are not needed, or halt the installation or the fleet.'
      throw new Refused('halts_full', `${HALTS_MAX} halts stand already.`, remedy)
    }
    const since = standing?.since ?? halt.since
    const scopes = { ...before?.scopes, [scope]: { by, why, since } }
    return (await writeHalts(ledger, before, scopes)) ? { scope, by, why, since } : 'again'
  })
}

/**
 * Lifts a halt, if `mayLift` holds for the one that stands when it is written: an operator's that came meanwhile is asked
 * for too. Repeatable. Runs that it held carry their `dueAt`, and the sweeper resumes those that no other halt holds.
 * Throws Retry `busy` where too many are changed at once.
 */
export async function liftHalt(
  ledger: Ledger,
  scope: HaltScope,
  mayLift: (halt: StandingHalt) => boolean = () => true,
): Promise<Lifted> {
  return contended<Lifted>(async () => {
    const before = await read(ledger, keyOf.halts(), haltsFrom)
    const standing = before?.scopes[scope]
    if (!standing) return { kind: 'none' }
    const halt = { scope, ...standing }
    if (!mayLift(standing)) return { kind: 'stays', halt }
    const { [scope]: _lifted, ...scopes } = before.scopes
    return (await writeHalts(ledger, before, scopes)) ? { kind: 'lifted', halt } : 'again'
  })
}

/** Nothing stands for this repository, as a member of a transaction; true also before the first halt was ever set. */
export function noHaltInTransaction(ledger: Ledger, repository: Halted) {
  const scopes = haltScopesOf(repository)
  return {
    ConditionCheck: {
      TableName: ledger.table,
      Key: keyOf.halts(),
      ConditionExpression: scopes.map((_, index) => `attribute_not_exists(#scopes.#s${index})`).join(' AND '),
      ExpressionAttributeNames: {
        '#scopes': 'scopes',
        ...Object.fromEntries(scopes.map((scope, index) => [`#s${index}`, scope])),
      },
    },
  }
}

/** The map is small and written whole, on the version that was read: it needs no parent to be there first. */
async function writeHalts(ledger: Ledger, before: HaltsItem | undefined, scopes: Halts): Promise<boolean> {
  const written = await change(ledger, keyOf.halts(), {
    set: { scopes, version: (before?.version ?? 0) + 1 },
    if: { version: before?.version },
  })
  return written.done
}
