/**
 * Halts of the fleet, an installation or a repository. Under a halt nothing new is judged or posted. One item holds all
 * halts, so that a claim and a conclusion check a single item, whatever the scope.
 */
import * as z from 'zod'
import { Refused } from '../base/errors.ts'
import { HALT_BY_BYTES_MAX, HALT_WHY_BYTES_MAX, HALTS_MAX } from '../base/limits.ts'
import { openWord, type Stored } from '../base/schema.ts'
import { cutAtBytes } from '../base/text.ts'
import { isPause } from '../runs/halt.ts'
import type { Repository } from '../runs/run.ts'
import { change, contended, type Item, itemAs, keyOf, type Ledger, read } from './table.ts'

/** The scope of a halt: everything, the repositories of an installation, or one repository by its id. */
export type HaltScope = 'fleet' | `installation/${number}` | `repository/${number}`

/** The standing halts, by scope. */
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

/** The outcome of lifting a halt: lifted; left standing, because the caller may not lift it; or no halt stood. */
export type Lifted = { readonly kind: 'lifted' | 'stays'; readonly halt: Halt } | { readonly kind: 'none' }

const itemSchema = z.object({ scopes: haltsSchema, version: z.number() })
type HaltsItem = Stored<typeof itemSchema>
const haltsFrom = (item: Item) => itemAs(itemSchema, item)

type Halted = Pick<Repository, 'id' | 'installationId'>

/** The scopes whose halt stops work on a repository, the widest first. */
export function haltScopesOf({ id, installationId }: Halted): HaltScope[] {
  return ['fleet', `installation/${installationId}`, `repository/${id}`]
}

/** Every standing halt, in one consistent read. */
export async function standingHalts(ledger: Ledger): Promise<Halts> {
  return (await read(ledger, keyOf.halts(), haltsFrom))?.scopes ?? {}
}

/** The widest standing halt for this repository; undefined without a halt. Pure. */
export function haltOn(halts: Halts, repository: Halted): Halt | undefined {
  const scope = haltScopesOf(repository).find((candidate) => halts[candidate] !== undefined)
  const halt = scope && halts[scope]
  return halt && { scope, ...halt }
}

/** The widest standing halt for this repository, read consistently; undefined without a halt. */
export async function standingHalt(ledger: Ledger, repository: Halted): Promise<Halt | undefined> {
  return haltOn(await standingHalts(ledger), repository)
}

/**
 * Sets a halt, and returns the standing halt of its scope: an earlier halt is kept, so that a repetition changes
 * nothing (I9). Only an operator's halt replaces a pause, with the pause's beginning: otherwise a comment could lift
 * the halt. `by` and `why` are cut at HALT_BY_BYTES_MAX and HALT_WHY_BYTES_MAX. Throws Refused `halts_full` beside
 * HALTS_MAX halts, Retry `busy` under too many writers.
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
 * Lifts a halt if `mayLift` accepts the halt as of the write: the check covers an operator's halt that came meanwhile.
 * Repeatable. Runs held under the halt carry their `dueAt`, and the sweeper resumes the runs without another halt.
 * Throws Retry `busy` under too many writers.
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

/** The map is small and written as a whole, at the version as read: the write needs no existing parent. */
async function writeHalts(ledger: Ledger, before: HaltsItem | undefined, scopes: Halts): Promise<boolean> {
  const written = await change(ledger, keyOf.halts(), {
    set: { scopes, version: (before?.version ?? 0) + 1 },
    if: { version: before?.version },
  })
  return written.done
}
