/** The plan, the conclusion and the results of a run, read at the moment of the conclusion. */
import type { Judge } from './broken.ts'
import type { Change, ReviewItem, RunItem } from './items.ts'
import { reviewKey } from './items.ts'
import type { View } from './view.ts'

export interface FindingSaid {
  readonly fingerprint: string
  readonly lens?: string
  /** The head of the first sighting, if the finding has been open since. */
  readonly originHead?: string
  readonly location: { readonly kind: string; readonly inDiff?: boolean }
}

export interface ResultDocument {
  readonly lens: string
  readonly part: number
  readonly findings: readonly FindingSaid[]
  readonly rejected: readonly unknown[]
}

export interface PlanDocument {
  readonly kind?: string
  readonly reviews: readonly { readonly lens: string; readonly part: number }[]
  readonly openFindings: readonly FindingSaid[]
  readonly carried: readonly FindingSaid[]
}

export interface ConclusionDocument {
  readonly runId: string
  readonly planKey: string
  readonly findings: readonly FindingSaid[]
  readonly announcedBefore: readonly string[]
  readonly dispositions: readonly { readonly finding: FindingSaid; readonly verb: string }[]
  readonly rejected: readonly unknown[]
  readonly merged: number
  readonly lenses: readonly {
    readonly lens: string
    readonly state: string
    readonly findings: number
    readonly rejected: number
  }[]
}

export interface Adopted {
  readonly run: RunItem
  readonly plan: PlanDocument
  readonly conclusion: ConclusionDocument
  /** True for a restated verdict whose review is still owed, also if an edited description has changed the verdict. */
  readonly isShownAgain: boolean
  /** Results of the completed reviews, also of a review that completed too late for the run. */
  readonly results: readonly ResultDocument[]
}

/**
 * Everything that the commit of a conclusion adopted; undefined for any other commit, and for an unchanged restated
 * verdict.
 */
export function adoptedBy(view: View, judge: Judge, judged: Set<string>, change: Change<RunItem>): Adopted | undefined {
  const { before, after: run } = change
  if (run?.state !== 'concluded' || (before?.state === 'concluded' && before.attempt === run.attempt)) return undefined
  const { conclusion: digest, planKey } = run
  judge.holds(digest !== undefined && run.plan !== undefined, 'A run concluded without a conclusion.', () => ({ run }))
  if (judged.has(digest)) return undefined
  judged.add(digest)
  const plan = documentOf<PlanDocument>(run.plan)
  const results = plan.reviews.flatMap(({ lens, part }) => {
    const key = reviewKey(`${run.runId}/${planKey}/${lens}/${part}`)
    const review = view.table.item(key) as unknown as ReviewItem | undefined
    return review?.state === 'completed' ? documentOf<ResultDocument>(review.result) : []
  })
  const isShownAgain = before !== undefined && before.concludedPlanKey === planKey && before.concludedWhole !== false
  return { run, plan, conclusion: documentOf<ConclusionDocument>(digest), isShownAgain, results }

  function documentOf<Document>(name: string | undefined): Document {
    const text = name === undefined ? undefined : view.document(name)
    judge.holds(text !== undefined, 'A document is named and not stored.', () => ({ name, run }))
    return JSON.parse(text) as Document
  }
}

export function fingerprintsOf(findings: readonly FindingSaid[]): Set<string> {
  return new Set(findings.map(({ fingerprint }) => fingerprint))
}
