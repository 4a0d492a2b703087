/** Says a review once: created pending, which GitHub allows once per author and nobody else sees, then submitted by id (DESIGN §9). */
import { Dead, isFailure, type Retry } from '../errors.ts'
import { digestOf, type Plain } from '../identity.ts'
import { GITHUB_BODY_BYTES_MAX } from '../limits.ts'
import { type InlineComment, markerOf, type ReviewMessage } from '../shown.ts'
import { byteLength, codeSpan } from '../text.ts'
import type { GitHub, Repo, ReviewSeen } from './github.ts'
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

/** Steps after which one call gives up and leaves the rest to a second look: each look can lead to one more step. */
const LOOKS_MAX = 6
/** GitHub's sentence where a pending review of ours stands already, which the look didn't show yet. */
const ONE_PENDING_ONLY = /one pending review/i

/**
 * Brings `message` onto the pull request and reads it back. Repeatable at any point, by anyone: what is there is looked
 * at first, by marker and our own author. Throws `dead` for what never works; all that may pass is `unknown`.
 *
 * A review whose inline comments GitHub refuses is said without them, each in full in the body as far as it fits (A4).
 */
export async function sayReview(
  github: GitHub,
  repo: Repo,
  number: number,
  message: ReviewMessage,
  { checks, onPending, pendingId }: SayOptions,
): Promise<Said> {
  const versions = [stamped(message), stamped(withoutInlineComments(message))] as const
  let inBody = false
  let event = message.event
  let created = pendingId
  let createdBody: string | undefined
  let refused = false
  let submitted = false
  let unanswered: { readonly write: 'create' | 'submit'; readonly because: Retry } | undefined

  return orUnknown<Said>(async () => {
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const { said, pending } = await look(github, repo, number, message.marker)
      const [first, ...repeated] = said
      if (first !== undefined) return { state: 'said', reviewId: first.id, repeated: repeated.length }
      if (submitted) return notShown('The review')

      // One that we made a moment ago is ours also while GitHub's list doesn't show it yet (AW73).
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
      const others = pending.filter((review) => review.id !== ours)
      if (ours !== undefined) await onPending?.(ours)

      if ((await checks()) === 'stop') {
        if (ours === undefined) return { state: 'stopped' }
        const answer = await orLook(github.deletePendingReview(repo, number, ours))
        if (answer === 'deleted' || answer === 'gone') created = undefined
        // A refused delete means that it was submitted after all: said and counted, as soon as a look shows it (IL2).
        submitted = answer === 'not_accepted'
      } else if (others.length > 0) {
        for (const other of others) await orLook(github.deletePendingReview(repo, number, other.id))
      } else if (ours === undefined) {
        const { body, comments } = versions[inBody ? 1 : 0]
        const answer = await orLook(
          github.createPendingReview(repo, number, { commitId: message.head, body, comments }),
        )
        if (isFailure(answer, 'retry')) {
          unanswered = { write: 'create', because: answer }
        } else if (answer.state === 'created') {
          created = answer.id
          createdBody = body
        } else if (!ONE_PENDING_ONLY.test(answer.sentence)) {
          if (inBody || message.comments.length === 0) throw notTaken(answer.sentence)
          inBody = true
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

interface Version {
  readonly payload: string
  readonly body: string
  readonly comments: readonly InlineComment[]
}

/**
 * Ours on this pull request: submitted ones with this marker, oldest first, and all pending ones. Of a list that is too
 * long the newest are read, and a review of this run can't be older than those.
 */
async function look(github: GitHub, repo: Repo, number: number, marker: string) {
  const { rows } = await github.reviews(repo, number)
  const ours = rows.filter((review) => review.authorIsUs)
  const said = ours.filter((review) => review.state !== 'PENDING' && hasLine(review.body, marker))
  return { said: said.sort((a, b) => a.id - b.id), pending: ours.filter((review) => review.state === 'PENDING') }
}

/** The message with the digest of what it says, by which a pending review is known to be this one and not an older one's. */
function stamped({ head, body, comments }: Pick<ReviewMessage, 'head' | 'body' | 'comments'>): Version {
  const payload = markerOf.payload(digestOf({ head, body, comments: comments as unknown as Plain }))
  return { payload, body: `${body}\n${payload}`, comments }
}

function isVersion(review: ReviewSeen, message: ReviewMessage, version: Version): boolean {
  return hasLine(review.body, message.marker) && hasLine(review.body, version.payload)
}

/** A marker counts only as a line of its own: one that is quoted inside other text is not ours (AD4). */
function hasLine(body: string, line: string): boolean {
  return body.split(/\r?\n/).includes(line)
}

/** The same message with every inline comment in the body, in full, as far as the limit goes; the rest is counted. */
function withoutInlineComments(message: ReviewMessage): Pick<ReviewMessage, 'head' | 'body' | 'comments'> {
  const { head, body, marker, comments } = message
  const count = comments.length
  const intro = `GitHub did not accept ${count === 1 ? 'the inline comment' : `the ${count} inline comments`} of this review; what ${count === 1 ? 'it says' : 'they say'} stands here.`
  const spoken = body.split('\n').filter((line) => line !== marker)
  const ending = (left: number) =>
    left === 0
      ? [marker]
      : [`${left} more did not fit here and ${left === 1 ? 'stands' : 'stand'} in the summary.`, '', marker]

  const parts = [...spoken, '', intro, '']
  const sizeOf = (lines: readonly string[]) => byteLength(lines.join('\n'))
  // The payload's line, which is added later, has the length of this one.
  const reserved = byteLength(markerOf.payload('0'.repeat(64))) + sizeOf(ending(count)) + 2
  let size = sizeOf(parts)
  let taken = 0
  for (const { path, line, body: said } of comments) {
    const part = ['---', '', `${codeSpan(path)}, line ${line}`, '', said, '']
    size += sizeOf(part) + 1
    if (size + reserved > GITHUB_BODY_BYTES_MAX) break
    parts.push(...part)
    taken += 1
  }
  return { head, body: [...parts, ...ending(count - taken)].join('\n'), comments: [] }
}

function notTaken(sentence: string): Dead {
  return new Dead(
    'github_refused',
    `GitHub does not accept this review: ${sentence}`,
    'Check that its commit still belongs to the pull request; a review of the newest head replaces it.',
  )
}
