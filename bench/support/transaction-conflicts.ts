/**
 * Transactions that meet on an item. The simulated table takes no time for a transaction, so here each transaction
 * holds its items for a while, and a writer of a held item is refused, as DynamoDB refuses it.
 */
import type { WriteAttempt } from '../../test/simulation/services/table.ts'

/** Transactions by purpose; `single` is a write of one item alone. */
export type WriteKind = 'claim' | 'conclude' | 'parked' | 'other transaction' | 'single'

export interface Tally {
  attempts: number
  /** Refused attempts, by the kind of the first item in conflict. */
  readonly conflicts: Map<string, number>
  /** ms from the first try to the accepted try, of the refused transactions. */
  readonly waits: number[]
  triesMax: number
}

export interface TransactionConflicts {
  /** For the weather: the positions of the items that another transaction holds. */
  readonly conflicts: (attempt: WriteAttempt) => readonly number[]
  readonly tallies: Readonly<Record<WriteKind, Tally>>
}

/**
 * `now` in ms; a transaction holds its items for `holdMs`, checked items too, because AWS documents no exception for
 * checks.
 */
export function openTransactionConflicts(now: () => number, holdMs: number): TransactionConflicts {
  const heldUntil = new Map<string, number>()
  const refused = new Map<string, { readonly since: number; tries: number }>()
  const tallies: Record<WriteKind, Tally> = {
    claim: newTally(),
    conclude: newTally(),
    parked: newTally(),
    'other transaction': newTally(),
    single: newTally(),
  }

  function conflicts({ operation, keys }: WriteAttempt): readonly number[] {
    const items = keys.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }))
    const isTransaction = operation === 'TransactWriteItems'
    const kind = isTransaction ? kindOf(items) : 'single'
    const tally = tallies[kind]
    tally.attempts += 1
    const met = items.flatMap((item, index) => ((heldUntil.get(nameOf(item)) ?? 0) > now() ? [index] : []))
    // The same run repeats the same attempt.
    const who = `${kind} ${nameOf(items.find(({ sk }) => sk === 'RUN') ?? items[0])}`
    const before = refused.get(who)
    const [first] = met
    if (first !== undefined) {
      const sk = items[first]?.sk.split('#', 1)[0] ?? ''
      tally.conflicts.set(sk, (tally.conflicts.get(sk) ?? 0) + 1)
      refused.set(who, { since: before?.since ?? now(), tries: (before?.tries ?? 0) + 1 })
      return met
    }
    if (before) {
      refused.delete(who)
      tally.waits.push(now() - before.since)
      tally.triesMax = Math.max(tally.triesMax, before.tries + 1)
    }
    if (isTransaction) for (const item of items) heldUntil.set(nameOf(item), now() + holdMs)
    return []
  }

  return { conflicts, tallies }
}

export function conflictsIn({ conflicts }: Tally): number {
  return [...conflicts.values()].reduce((sum, count) => sum + count, 0)
}

interface Named {
  readonly pk: string
  readonly sk: string
}

function newTally(): Tally {
  return { attempts: 0, conflicts: new Map(), waits: [], triesMax: 1 }
}

/**
 * New work or new content checks the halts; among these writes only the mark of a parked run leaves the thread alone.
 */
function kindOf(items: readonly Named[]): WriteKind {
  const has = (sk: string) => items.some((item) => item.sk === sk)
  if (!has('HALT')) return 'other transaction'
  if (!has('THREAD')) return 'parked'
  return has('SHOWN') ? 'conclude' : 'claim'
}

function nameOf(item: Named | undefined): string {
  return item ? `${item.pk} ${item.sk}` : ''
}
