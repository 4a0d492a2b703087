/** Makes the conclusion of a run from its plan, its results and the reviews that stand on GitHub. */
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
import { restatedConclusion } from './core/restated-conclusion.ts'
import { reviewMessageOf } from './core/review-message.ts'
import {
  announcedFingerprints,
  type OwedReview,
  owedReview,
  supplementAttempt,
  unannouncedReview,
  unusedRound,
} from './owed-review.ts'

export interface ConcludeDeps extends Coordinator {
  readonly documents: Documents
}

/** A conclusion with the message that it owes, or with the message on GitHub that uses its round. */
interface Concluded extends Pick<ConclusionWrite, 'message' | 'roundOf'> {
  readonly conclusion: Conclusion
}

export interface MadeConclusion extends Concluded {
  readonly planKey: string
}

/** Throws Retry `claim_contended` while an earlier review is being withdrawn. */
export async function makeConclusion(deps: ConcludeDeps, run: Run, thread: Thread): Promise<MadeConclusion> {
  if (!run.plan) throw new Dead('plan_missing', 'The run has no plan.', 'Comment /muster retry on the pull request.')
  const plan = await getDocument<Plan>(deps.documents, run.plan)
  const concluded = isRestated(run, plan) ? await restated(deps, run, plan, thread) : await merged(deps, run, plan)
  return { ...concluded, planKey: plan.planKey }
}

/** The conclusion that stands for this head; an edited description may have replaced the run's own. */
async function restated(deps: ConcludeDeps, run: Run, plan: Plan, thread: Thread): Promise<Concluded> {
  const own = await storedConclusion(deps, run.conclusion)
  const last = thread.lastConclusion
  const conclusion = last?.head === run.head ? await storedConclusion(deps, last.digest) : own
  const owed = await unannouncedReview(deps.ledger, run, plan, own)
  if (!owed) return { conclusion }
  // The review of another head may have announced some of its findings meanwhile.
  const announced = await announcedFingerprints(deps.ledger, run, plan, deps.now())
  const again = restatedConclusion(conclusion, own, { announcedIn: owed.key, announced })
  return { conclusion: again, message: await storedMessage(deps, owed, plan, again) }
}

async function storedConclusion({ documents }: ConcludeDeps, digest: string | undefined): Promise<Conclusion> {
  if (digest !== undefined) return getDocument<Conclusion>(documents, digest)
  const remedy = 'Push, to have the head reviewed anew.'
  throw new Dead('document_missing', 'The verdict to be shown again is not known.', remedy)
}

async function merged(deps: ConcludeDeps, run: Run, plan: Plan): Promise<Concluded> {
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
  const owed = await owedReview(ledger, run, plan, conclusion)
  if (!owed) return { conclusion, roundOf: isWhole(conclusion) ? await unusedRound(ledger, run, plan) : undefined }
  const announcing = { ...conclusion, announcedIn: owed.key }
  return { conclusion: announcing, message: await storedMessage(deps, owed, plan, announcing) }
}

/** The message of a verdict that lacks a lens uses no round (RO2). */
async function storedMessage(
  { documents }: ConcludeDeps,
  owed: OwedReview,
  plan: Plan,
  conclusion: Conclusion,
): Promise<MessageOwed> {
  const review = reviewMessageOf(conclusion, { requestChanges: false, supplement: supplementAttempt(owed) })
  const document = await putDocument(documents, review)
  return { ...owed, document, round: isWhole(conclusion) ? plan.round : 0 }
}
