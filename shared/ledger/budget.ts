/**
 * An installation's budget for creations on GitHub: a single item, so that all posters together keep the limits (AW76).
 */
import * as z from 'zod'
import { budgetSchema, takeFrom, UNUSED_BUDGET } from '../publishing/budget.ts'
import { change, contended, type Item, itemAs, keyOf, type Ledger, read } from './table.ts'

const itemSchema = budgetSchema.extend({ version: z.number() })
const budgetFrom = (item: Item) => itemAs(itemSchema, item)

export type BudgetTaken = { readonly taken: true } | { readonly taken: false; readonly until: number }

/**
 * Takes `count` creations at `now` (ms UTC), all or none, by one conditional write. The budget never gets creations
 * back: a creation that failed counts too, which errs on GitHub's side. Throws Retry `busy` under too many writers.
 */
export async function takeBudget(ledger: Ledger, installationId: number, now: number, count = 1): Promise<BudgetTaken> {
  const key = keyOf.budget(installationId)
  return contended<BudgetTaken>(async () => {
    const before = await read(ledger, key, budgetFrom)
    const taken = takeFrom(before ?? UNUSED_BUDGET, now, count)
    if (taken.state === 'spent') return { taken: false, until: taken.until }
    const written = await change(ledger, key, {
      set: { minute: taken.budget.minute, hour: taken.budget.hour, version: (before?.version ?? 0) + 1 },
      if: { version: before?.version },
    })
    return written.done ? { taken: true } : 'again'
  })
}

/** The end of GitHub's limit for this installation, ms UTC; undefined without a limit at `now`. */
export async function closedUntil(ledger: Ledger, installationId: number, now: number): Promise<number | undefined> {
  const until = (await read(ledger, keyOf.budget(installationId), budgetFrom))?.closedUntil
  return until !== undefined && until > now ? until : undefined
}

/** Closes the budget until `until` (ms UTC), because GitHub met one of the installation's calls with a limit. Repeatable. */
export async function closeBudget(ledger: Ledger, installationId: number, until: number): Promise<void> {
  const key = keyOf.budget(installationId)
  await contended(async () => {
    const before = await read(ledger, key, budgetFrom)
    if ((before?.closedUntil ?? 0) >= until) return 'closed'
    const { minute, hour } = before ?? UNUSED_BUDGET
    const written = await change(ledger, key, {
      set: { minute, hour, closedUntil: until, version: (before?.version ?? 0) + 1 },
      if: { version: before?.version },
    })
    return written.done ? 'closed' : 'again'
  })
}
