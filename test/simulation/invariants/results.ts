/**
 * I2: the holder of the review's epoch completed every result that a run adopts, and the review still names the result.
 */
import { adoptedBy, fingerprintsOf } from './adopted.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import type { Change, ReviewItem, RunItem } from './items.ts'
import type { View } from './view.ts'

export function resultsInvariant(view: View, judge: Judge): Invariant {
  const judged = new Set<string>()

  function completed({ before, after }: Change<ReviewItem>): void {
    if (after?.state !== 'completed' || before?.state === 'completed') return
    judge.looked()
    const facts = () => ({ before, after })
    judge.holds(before?.state === 'leased', 'A review was completed that was not leased.', facts)
    const isHolder = before.epoch === after.epoch && before.owner === after.owner && after.owner !== undefined
    judge.holds(isHolder, 'A review was completed by other than its holder at this epoch.', facts)
    const isStored = after.result !== undefined && view.document(after.result) !== undefined
    judge.holds(isStored, 'A review names a result that is not stored.', facts)
  }

  function concluded(change: Change<RunItem>): void {
    const adopted = adoptedBy(view, judge, judged, change)
    if (!adopted || adopted.isShownAgain) return
    const { plan, conclusion, results, run } = adopted
    const isOfRun = conclusion.runId === run.runId && conclusion.planKey === run.planKey
    judge.holds(isOfRun, 'A run adopted the conclusion of another.', () => ({ run }))
    const known = fingerprintsOf([
      ...results.flatMap(({ findings }) => findings),
      ...plan.carried,
      ...plan.openFindings,
    ])
    const foreign = conclusion.findings.filter(({ fingerprint }) => !known.has(fingerprint))
    judge.holds(foreign.length === 0, 'A run adopted a finding that no review of its own completed with.', () => ({
      run,
      foreign,
    }))
    for (const { lens, state } of conclusion.lenses) {
      const planned = plan.reviews.filter((review) => review.lens === lens).length
      const done = results.filter((result) => result.lens === lens).length
      judge.holds(
        state !== 'read' || done >= planned,
        'A lens counts as read, and not all of its reviews are completed.',
        () => ({
          run,
          lens,
          planned,
          done,
        }),
      )
    }
  }

  return { watch: { review: completed, run: concluded } }
}
