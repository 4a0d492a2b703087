/** Which review a run owes, and what was said before it: both by what became of the messages that were to say it. */

import { Retry } from '../../shared/base/errors.ts'
import { WITHDRAWAL_DECIDED_MS } from '../../shared/base/limits.ts'
import { type MessageState, readMessage } from '../../shared/ledger/message.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { Run } from '../../shared/runs/run.ts'
import { announcedBy, unannounced } from '../../shared/verdict/announced-findings.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'
import type { Plan } from '../../shared/verdict/plan.ts'

/** The key of the first review that a run says under a plan key; that of a further one ends in the attempt which made it. */
const REVIEW_KEY = 'review'
const SUPPLEMENT_KEY = /^review-a(\d+)$/

export interface OwedReview {
  readonly key: string
  /** The state of its message as it was read. */
  readonly before: MessageState | undefined
}

/**
 * Fingerprints of open findings that people have been told of: what stood in a review that was withdrawn, or that GitHub
 * refused, is said by the next one. While it isn't decided whether that review stands, throws Retry, for a bounded time
 * (IL2). `now` is ms UTC.
 */
export async function announcedFingerprints(
  ledger: Ledger,
  run: Run,
  plan: Plan,
  now: number,
): Promise<readonly string[]> {
  const { announcements, plannedAt } = plan
  if (!announcements.message) return announcements.before
  const state = await stateOf(ledger, run, announcements.message)
  const isOpen = state === 'owed' || state === 'withdrawing'
  if (isOpen && now < plannedAt + WITHDRAWAL_DECIDED_MS) throw beingWithdrawn()
  return announcedBy(announcements, state === 'said')
}

/**
 * The review that a conclusion owes: the first of its plan key; where that was said and a lens was asked again, a further one
 * with what the first didn't say; none for a run of analyzers. One that failed is tried again under its own key, by which
 * it is found if it stands on GitHub after all.
 */
export async function owedReview(
  ledger: Ledger,
  run: Run,
  plan: Plan,
  conclusion: Conclusion,
): Promise<OwedReview | undefined> {
  if (plan.kind !== 'full') return undefined
  const { runId } = run
  const { planKey, announcements } = plan
  const first = await settledStateOf(ledger, run, { runId, planKey, key: REVIEW_KEY })
  if (first !== 'said') return { key: REVIEW_KEY, before: first }
  if (unannounced(conclusion).length === 0) return undefined
  const { message } = announcements
  const last = message?.runId === runId && message.planKey === planKey ? message : undefined
  const before = last && (await settledStateOf(ledger, run, last))
  if (last && before !== 'said') return { key: last.key, before }
  const next = { runId, planKey, key: `${REVIEW_KEY}-a${run.attempt}` }
  return { key: next.key, before: await settledStateOf(ledger, run, next) }
}

/**
 * The review that was said while a lens was missing, and used no round, where all is read by now and there is nothing to add
 * to it: it uses the round (RO2). Undefined where none was said, or its round is used.
 */
export async function unusedRound(
  ledger: Ledger,
  run: Run,
  plan: Plan,
): Promise<{ key: string; round: number } | undefined> {
  const { planKey, kind, round } = plan
  if (kind !== 'full') return undefined
  const name = { repositoryId: run.repository.id, number: run.number, runId: run.runId, planKey, key: REVIEW_KEY }
  const message = await readMessage(ledger, name)
  return message?.state === 'said' && message.round === 0 ? { key: REVIEW_KEY, round } : undefined
}

/** The review that a verdict still owes when it is shown again: one that was never said. */
export async function unannouncedReview(
  ledger: Ledger,
  run: Run,
  plan: Plan,
  conclusion: Conclusion,
): Promise<OwedReview | undefined> {
  const { planKey } = plan
  for (const key of new Set([REVIEW_KEY, conclusion.announcedIn ?? REVIEW_KEY])) {
    const before = await settledStateOf(ledger, run, { runId: run.runId, planKey, key })
    if (before !== 'said') return { key, before }
  }
  return undefined
}

/** The attempt whose further review this key names; undefined for the first. */
export function supplementAttempt({ key }: OwedReview): number | undefined {
  const attempt = SUPPLEMENT_KEY.exec(key)?.[1]
  return attempt === undefined ? undefined : Number(attempt)
}

/** As `stateOf`; throws Retry while the message is being withdrawn, as its key can't be owed anew until then. */
async function settledStateOf(...args: Parameters<typeof stateOf>): Promise<MessageState | undefined> {
  const state = await stateOf(...args)
  if (state === 'withdrawing') throw beingWithdrawn()
  return state
}

async function stateOf(
  ledger: Ledger,
  { repository, number }: Run,
  name: { readonly runId: string; readonly planKey: string; readonly key: string },
): Promise<MessageState | undefined> {
  return (await readMessage(ledger, { ...name, repositoryId: repository.id, number }))?.state
}

function beingWithdrawn(): Retry {
  return new Retry('claim_contended', 'An earlier review is being withdrawn.', 5_000)
}
