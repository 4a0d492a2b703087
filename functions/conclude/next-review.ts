/** The review that a run owes, and the findings announced before, both by the states of the messages in the ledger. */
import { Retry } from '../../shared/base/errors.ts'
import { CLAIM_RETRY_MS, WITHDRAWAL_DECIDED_MS } from '../../shared/base/limits.ts'
import { type Message, type MessageState, readMessage } from '../../shared/ledger/message.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { ConclusionWrite } from '../../shared/ledger/thread.ts'
import type { Run } from '../../shared/runs/run.ts'
import { announcedBy, unannounced } from '../../shared/verdict/announced-findings.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'
import type { Plan } from '../../shared/verdict/plan.ts'

/** The key of the first review under a plan key; the key of a further review ends in the attempt that owes it. */
const REVIEW_KEY = 'review'
const SUPPLEMENT_KEY = /^review-a(\d+)$/

export interface NextReview {
  readonly key: string
  /** The state of the review's message as read. */
  readonly before: MessageState | undefined
}

/**
 * Fingerprints of the open findings in a review on GitHub. The next review announces the findings of a withdrawn or
 * refused review. Throws Retry while the outcome of the review is open, for a bounded time (IL2). `now` is ms UTC.
 */
export async function announcedFingerprints(
  ledger: Ledger,
  run: Run,
  { announcements, plannedAt }: Plan,
  now: number,
): Promise<readonly string[]> {
  if (!announcements.message) return announcements.before
  const state = (await readReview(ledger, run, announcements.message))?.state
  const isOpen = state === 'owed' || state === 'withdrawing'
  if (isOpen && now < plannedAt + WITHDRAWAL_DECIDED_MS) throw beingWithdrawn()
  return announcedBy(announcements, state === 'said')
}

/**
 * The review that a conclusion owes: the first of its plan key; after a retry a further review with the findings that
 * the first lacks; none for a run of analyzers. A failed review keeps its key, by which Post finds it on GitHub if it
 * stands there after all.
 */
export async function nextReview(
  ledger: Ledger,
  run: Run,
  { kind, planKey, announcements: { message } }: Plan,
  conclusion: Conclusion,
): Promise<NextReview | undefined> {
  if (kind !== 'full') return undefined
  const first = await settledReview(ledger, run, planKey, REVIEW_KEY)
  if (first.before !== 'said') return first
  if (unannounced(conclusion).length === 0) return undefined
  const isOwn = message?.runId === run.runId && message.planKey === planKey
  const last = isOwn ? await settledReview(ledger, run, planKey, message.key) : undefined
  if (last && last.before !== 'said') return last
  return settledReview(ledger, run, planKey, `${REVIEW_KEY}-a${run.attempt}`)
}

/**
 * The first review, if it used no round because a lens was missing, and a retry has read everything and adds nothing:
 * the review uses the round now (RO2).
 */
export async function unusedRound(
  ledger: Ledger,
  run: Run,
  { kind, planKey, round }: Plan,
): Promise<ConclusionWrite['roundOf']> {
  if (kind !== 'full') return undefined
  const message = await readReview(ledger, run, { runId: run.runId, planKey, key: REVIEW_KEY })
  return message?.state === 'said' && message.round === 0 ? { key: REVIEW_KEY, round } : undefined
}

/** The review that a restated conclusion still owes because GitHub has never shown it. */
export async function unannouncedReview(
  ledger: Ledger,
  run: Run,
  { planKey }: Plan,
  conclusion: Conclusion,
): Promise<NextReview | undefined> {
  for (const key of new Set([REVIEW_KEY, conclusion.announcedIn ?? REVIEW_KEY])) {
    const review = await settledReview(ledger, run, planKey, key)
    if (review.before !== 'said') return review
  }
  return undefined
}

/** The attempt that owes a further review; undefined for the first review. */
export function supplementAttempt({ key }: NextReview): number | undefined {
  const attempt = SUPPLEMENT_KEY.exec(key)?.[1]
  return attempt === undefined ? undefined : Number(attempt)
}

/** Throws Retry while the message is being withdrawn: its key can't be owed anew until then. */
async function settledReview(ledger: Ledger, run: Run, planKey: string, key: string): Promise<NextReview> {
  const before = (await readReview(ledger, run, { runId: run.runId, planKey, key }))?.state
  if (before === 'withdrawing') throw beingWithdrawn()
  return { key, before }
}

function readReview(
  ledger: Ledger,
  { repository, number }: Run,
  name: { readonly runId: string; readonly planKey: string; readonly key: string },
): Promise<Message | undefined> {
  return readMessage(ledger, { ...name, repositoryId: repository.id, number })
}

function beingWithdrawn(): Retry {
  return new Retry('claim_contended', 'An earlier review is being withdrawn.', CLAIM_RETRY_MS)
}
