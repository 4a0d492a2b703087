/** I7: rounds never exceed their ceiling; the record of a thread is append-only and without a gap. */
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { type Change, type EntryItem, type MessageItem, pullPartition, sequenceOf, type ThreadItem } from './items.ts'
import type { View } from './view.ts'

interface ConclusionDocument {
  readonly roundsCeiling: number
}

export function threadInvariant(view: View, judge: Judge): Invariant {
  /** Count of entries, by partition. */
  const entries = new Map<string, number>()

  function appended({ key, before, after }: Change<EntryItem>): void {
    judge.looked()
    judge.holds(before === undefined && after !== undefined, 'An entry was changed or deleted.', () => ({
      key,
      before,
      after,
    }))
    const expected = entries.get(key.pk) ?? 0
    judge.holds(sequenceOf(key.sk) === expected, 'The sequence of entries has a gap.', () => ({ key, expected }))
    entries.set(key.pk, expected + 1)
    if (after.kind !== 'verdict' || after.round === undefined) return
    const { roundsCeiling = 0 } = concluded(after) ?? {}
    judge.holds(after.round <= roundsCeiling, 'A verdict is of a round beyond the ceiling.', () => ({
      key,
      entry: after,
      roundsCeiling,
    }))
  }

  function concluded({ conclusion }: EntryItem): ConclusionDocument | undefined {
    const text = conclusion === undefined ? undefined : view.document(conclusion)
    return text === undefined ? undefined : (JSON.parse(text) as ConclusionDocument)
  }

  function moved({ key, before, after }: Change<ThreadItem>): void {
    const facts = () => ({ key, before, after })
    judge.holds(after !== undefined, 'A thread was deleted.', facts)
    judge.holds(after.version > (before?.version ?? 0), 'A thread changed without its version.', facts)
    const openings = after.series - (before?.series ?? 0)
    judge.holds(openings === 0 || openings === 1, 'A series was skipped, or taken back.', facts)
    const rounds = after.round - (openings === 0 ? (before?.round ?? 0) : 0)
    judge.holds(rounds === 0 || (rounds === 1 && openings === 0), 'A round was skipped, or taken back.', facts)
  }

  /** A thread and its entry change in one commit, and are compared once the whole commit is in the table. */
  function wholeThread(thread: ThreadItem): void {
    const count = entries.get(pullPartition(thread)) ?? 0
    judge.holds(thread.nextSequence === count, 'A thread and its entries do not count alike.', () => ({
      thread,
      count,
    }))
  }

  const touched = new Map<string, ThreadItem>()

  return {
    watch: {
      entry: appended,
      thread(change) {
        moved(change)
        if (change.after) touched.set(change.key.pk, change.after)
      },
    },
    afterStep() {
      for (const thread of touched.values()) wholeThread(thread)
      touched.clear()
    },
    atRest() {
      for (const item of view.table.items('PR#', 'THREAD')) roundsAreShown(item as unknown as ThreadItem)
    },
  }

  /** A round counts once its review is shown, and only then. */
  function roundsAreShown(thread: ThreadItem): void {
    const messages = view.table.items(pullPartition(thread), 'MESSAGE#') as unknown as readonly (MessageItem & {
      pk: string
    })[]
    // A review of a partly read change uses no round. Two reviews that were planned as the same round are two rounds.
    const shown = messages.filter(
      ({ pk, state, series, round }) =>
        pk === pullPartition(thread) && state === 'said' && series === thread.series && round > 0,
    ).length
    judge.holds(thread.round === shown, 'A thread counts other rounds than were shown.', () => ({ thread, shown }))
  }
}
