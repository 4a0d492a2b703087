/**
 * Transactions that meet on an item. The simulated table takes no time for one, so here each holds its items for a while,
 * and whoever writes one of them meanwhile is refused, as DynamoDB refuses it.
 */
import type { WriteAttempt } from '../../test/simulation/services/table.ts'

/** Transactions by what they are for; `single` is a write of one item alone. */
export type WriteKind = 'claim' | 'conclude' | 'parked' | 'other transaction' | 'single'

export interface Tally {
  attempts: number
  /** Attempts that were refused, by the kind of the first item on which they met another one. */
  readonly conflicts: Map<string, number>
  /** ms from the first try to the one that was not refused any more, of those that were refused. */
  readonly waits: number[]
  triesMax: number
}

export interface Overlaps {
  /** Weather's: the positions of the items that another transaction holds. */
  readonly conflicts: (attempt: WriteAttempt) => readonly number[]
  readonly tallies: Readonly<Record<WriteKind, Tally>>
}

/** `now` in ms; a transaction holds its items for `holdMs`, checked ones too: AWS doesn't say that these don't count. */
export function openOverlaps(now: () => number, holdMs: number): Overlaps {
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
    // The same run tries the same thing again.
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

/** What is new to be judged or shown checks the halts; of these only the mark that a run is parked leaves the thread alone. */
function kindOf(items: readonly Named[]): WriteKind {
  const has = (sk: string) => items.some((item) => item.sk === sk)
  if (!has('HALT')) return 'other transaction'
  if (!has('THREAD')) return 'parked'
  return has('SHOWN') ? 'conclude' : 'claim'
}

function nameOf(item: Named | undefined): string {
  return item ? `${item.pk} ${item.sk}` : ''
}
