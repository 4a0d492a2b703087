/** What a run has adopted when it concludes: its plan, its conclusion, and the results of its reviews as they are then. */
import type { Judge } from './broken.ts'
import type { Change, ReviewItem, RunItem } from './items.ts'
import { reviewKey } from './items.ts'
import type { View } from './view.ts'

export interface FindingSaid {
  readonly fingerprint: string
  readonly lens?: string
  /** Where it was found first since it stands open. */
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
  /** True for a whole verdict that is shown again, perhaps brought up to date by an edited description, as its review is owed still. */
  readonly isShownAgain: boolean
  /** Of the reviews that are completed; more than were adopted, if one completed in the last moment. */
  readonly results: readonly ResultDocument[]
}

/** What the commit of a conclusion adopted; undefined for any other commit, and for a verdict that is shown again as it was. */
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
