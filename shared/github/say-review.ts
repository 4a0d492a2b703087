/** Says a review once: created pending, which GitHub allows once per author and nobody else sees, then submitted by id (DESIGN §9). */
import { Dead, isFailure, type Retry } from '../base/errors.ts'
import type { ReviewMessage } from '../publishing/github-payloads.ts'
import type { GitHub, Repo } from './github.ts'
import { afterAcceptance, afterRefusal, allInline, type Placing, sizeOf, triesMax } from './inline-bisection.ts'
import { isVersion, ownReviews, versionOf } from './own-reviews.ts'
import { notShown, orLook, orUnknown, type Unknown } from './shown-outcome.ts'

export type Said =
  /** Seen submitted on GitHub. `repeated` is how many more of ours with this marker stand there; it should be 0. */
  | { readonly state: 'said'; readonly reviewId: number; readonly repeated: number }
  /** `checks` said stop; no pending review of this message is left as far as GitHub shows. */
  | { readonly state: 'stopped' }
  | Unknown

export interface SayOptions {
  /** Asked right before each step that others would see or that removes something: our lease, the live run, the head, halts. */
  readonly checks: () => Promise<'go' | 'stop'>
  /** Told the pending review's id before it is submitted, so that it can be kept. */
  readonly onPending?: (reviewId: number) => Promise<void>
  /**
   * What `onPending` was told in an earlier call for this message. GitHub's lists lag, but a submit by id doesn't: with
   * it no second review is made even if the list shows nothing of the first.
   */
  readonly pendingId?: number
}

/** Steps after which one call gives up and leaves the rest to a second look, beside those that place the comments. */
const LOOKS_MAX = 5
/** GitHub's sentence where a pending review of ours stands already, which the look didn't show yet. */
const ONE_PENDING_ONLY = /one pending review/i
/** GitHub's sentences about a comment's place, among them those of its API's fields. Others are about the review. */
const ABOUT_A_PLACE = /line|path|position|diff|hunk|thread/i

/**
 * Brings `message` onto the pull request and reads it back. Repeatable at any point, by anyone: what is there is looked
 * at first, by marker and our own author. Throws `dead` for what never works; all that may pass is `unknown`.
 *
 * An inline comment that GitHub refuses stands in the body, in full as far as it fits (A4). GitHub refuses the whole review
 * then and doesn't say why, so it is looked for, with log2(n) further tries; if several are refused, all stand there (AW79).
 */
export async function sayReview(
  github: GitHub,
  repo: Repo,
  number: number,
  message: ReviewMessage,
  { checks, onPending, pendingId }: SayOptions,
): Promise<Said> {
  const count = message.comments.length
  const everything = { ...allInline(count), inBody: { from: 0, to: count } }
  let placing = allInline(count)
  let event = message.event
  let created = pendingId
  let createdBody: string | undefined
  /** Those that GitHub said it deleted: its list may show them a while longer. */
  const deleted = new Set<number>()
  let refused = false
  let submitted = false
  let unanswered: { readonly write: 'create' | 'submit'; readonly because: Retry } | undefined

  async function remove(id: number) {
    const answer = await orLook(github.deletePendingReview(repo, number, id))
    if (answer === 'deleted' || answer === 'gone') deleted.add(id)
    return answer
  }

  return orUnknown<Said>(async () => {
    for (let looks = 0; looks < LOOKS_MAX + triesMax(count); looks += 1) {
      const { said, pending } = await ownReviews(github, repo, number, message.marker)
      const [first, ...repeated] = said
      if (first !== undefined) return { state: 'said', reviewId: first.id, repeated: repeated.length }
      if (submitted) return notShown('The review')

      // One that we made a moment ago is ours also while GitHub's list doesn't show it yet (AW73).
      const whole = [placing, allInline(count), everything].filter((one) => afterAcceptance(one) === undefined)
      const versions = whole.map(({ inBody }) => versionOf(message, inBody))
      const adopted = pending.find((review) => versions.some((version) => isVersion(review, message, version)))
      // An unanswered write that the look doesn't show gets time, not another try at once.
      if (unanswered?.write === 'submit' || (unanswered?.write === 'create' && adopted === undefined)) {
        return { state: 'unknown', because: unanswered.because }
      }
      unanswered = undefined
      const ours = adopted?.id ?? created
      if (refused) {
        // It isn't pending any more and not seen said: the list lags. Time tells, not another review.
        if (event === 'COMMENT') return notShown('The review')
        // Or changes can't be requested, on our own pull request (F7): the check run has the verdict then.
        event = 'COMMENT'
      }
      const others = pending.filter(({ id }) => id !== ours && !deleted.has(id))
      if (ours !== undefined) await onPending?.(ours)

      if ((await checks()) === 'stop') {
        if (ours === undefined) return { state: 'stopped' }
        const answer = await remove(ours)
        if (answer === 'deleted' || answer === 'gone') created = undefined
        // A refused delete means that it was submitted after all: said and counted, as soon as a look shows it (IL2).
        submitted = answer === 'not_accepted'
      } else if (others.length > 0) {
        for (const { id } of others) await remove(id)
      } else if (ours === undefined) {
        const { body, comments } = versionOf(message, placing.inBody)
        const answer = await orLook(
          github.createPendingReview(repo, number, { commitId: message.head, body, comments }),
        )
        if (isFailure(answer, 'retry')) {
          unanswered = { write: 'create', because: answer }
        } else if (answer.state === 'created') {
          const narrower = afterAcceptance(placing)
          if (narrower === undefined) {
            created = answer.id
            createdBody = body
          } else {
            placing = narrower
            await remove(answer.id)
          }
        } else if (!ONE_PENDING_ONLY.test(answer.sentence)) {
          placing = nextPlacing(placing, everything, answer.sentence)
        }
      } else {
        // Of one that an earlier call made and the list doesn't show, the body is unknown, and stays as it is.
        const body = adopted?.body ?? createdBody
        const answer = await orLook(github.submitReview(repo, number, ours, event, body))
        if (isFailure(answer, 'retry')) unanswered = { write: 'submit', because: answer }
        submitted = answer === 'submitted'
        refused = answer === 'not_accepted'
        if (answer === 'gone') created = undefined
      }
    }
    return notShown('The review')
  })
}

/** Throws `dead` where GitHub minds something else than a comment, or there is no other way to place them. */
function nextPlacing(placing: Placing, everything: Placing, sentence: string): Placing {
  const isLast = sizeOf(placing.inBody) === placing.count
  const next = ABOUT_A_PLACE.test(sentence) ? afterRefusal(placing) : isLast ? undefined : everything
  if (next === undefined) throw notTaken(sentence)
  return next
}

function notTaken(sentence: string): Dead {
  return new Dead(
    'github_refused',
    `GitHub does not accept this review: ${sentence}`,
    'Check that its commit still belongs to the pull request; a review of the newest head replaces it.',
  )
}
