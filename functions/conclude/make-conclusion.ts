/** Makes the conclusion of a run from the plan, the results and the reviews on GitHub. */
import { Dead } from '../../shared/base/errors.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { type Documents, getDocument, putDocument } from '../../shared/documents/documents.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import type { ConclusionWrite, MessageOwed } from '../../shared/ledger/thread.ts'
import type { ReviewResult } from '../../shared/runs/review-result.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { Thread } from '../../shared/runs/thread.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'
import { isRestated, type Plan } from '../../shared/verdict/plan.ts'
import { conclude, isWhole } from './core/conclude.ts'
import { restatedVerdict } from './core/restated-verdict.ts'
import { reviewMessageOf } from './core/review-message.ts'
import {
  announcedFingerprints,
  type NextReview,
  nextReview,
  supplementAttempt,
  unannouncedReview,
  unusedRound,
} from './next-review.ts'

export interface ConcludeDeps extends Coordinator {
  readonly documents: Documents
}

/** A conclusion, with its new message or with the earlier message for its round. */
export interface ConclusionToStore extends Pick<ConclusionWrite, 'planKey' | 'message' | 'roundOf'> {
  readonly conclusion: Conclusion
}

type Concluded = Omit<ConclusionToStore, 'planKey'>

/** Throws Retry `claim_contended` while an earlier review is being withdrawn. */
export async function makeConclusion(deps: ConcludeDeps, run: Run, thread: Thread): Promise<ConclusionToStore> {
  if (!run.plan) throw new Dead('plan_missing', 'The run has no plan.', 'Comment /muster retry on the pull request.')
  const plan = await getDocument<Plan>(deps.documents, run.plan)
  const concluded = isRestated(run, plan)
    ? await standingConclusion(deps, run, plan, thread)
    : await newConclusion(deps, run, plan)
  return { ...concluded, planKey: plan.planKey }
}

/** The conclusion that stands for this head; an edited description may have replaced the run's own. */
async function standingConclusion(deps: ConcludeDeps, run: Run, plan: Plan, thread: Thread): Promise<Concluded> {
  const own = await storedConclusion(deps, run.conclusion)
  const last = thread.lastConclusion
  const conclusion = last?.head === run.head ? await storedConclusion(deps, last.digest) : own
  const owed = await unannouncedReview(deps.ledger, run, plan, own)
  if (!owed) return { conclusion }
  // The review of another head may have announced some of the findings meanwhile.
  const announced = await announcedFingerprints(deps.ledger, run, plan, deps.now())
  const again = restatedVerdict(conclusion, own, { announcedIn: owed.key, announced })
  return { conclusion: again, message: await storedMessage(deps, owed, plan, again) }
}

async function storedConclusion({ documents }: ConcludeDeps, digest: string | undefined): Promise<Conclusion> {
  if (digest !== undefined) return getDocument<Conclusion>(documents, digest)
  const remedy = 'Push to start a new review.'
  throw new Dead('document_missing', 'The earlier conclusion of this head is missing.', remedy)
}

async function newConclusion(deps: ConcludeDeps, run: Run, plan: Plan): Promise<Concluded> {
  const { ledger, documents } = deps
  const reviews = await Promise.all(
    (await readReviews(ledger, run.runId, plan.planKey)).map(async (review) => ({
      review,
      result:
        review.state === 'completed' && review.result
          ? await getDocument<ReviewResult>(documents, review.result)
          : undefined,
    })),
  )
  const conclusion = conclude(plan, reviews, await announcedFingerprints(ledger, run, plan, deps.now()))
  const owed = await nextReview(ledger, run, plan, conclusion)
  if (!owed) return { conclusion, roundOf: isWhole(conclusion) ? await unusedRound(ledger, run, plan) : undefined }
  const announcing = { ...conclusion, announcedIn: owed.key }
  return { conclusion: announcing, message: await storedMessage(deps, owed, plan, announcing) }
}

/** The message of a verdict that lacks a lens uses no round (RO2). */
async function storedMessage(
  { documents }: ConcludeDeps,
  owed: NextReview,
  plan: Plan,
  conclusion: Conclusion,
): Promise<MessageOwed> {
  const review = reviewMessageOf(conclusion, { requestChanges: false, supplement: supplementAttempt(owed) })
  const document = await putDocument(documents, review)
  return { ...owed, document, round: isWhole(conclusion) ? plan.round : 0 }
}
