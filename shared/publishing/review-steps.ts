/**
 * How a review comes to stand on its pull request once, as a state machine: a step is one call, and `afterStep` decides the
 * next step from its answer. Pure: shared/github/say-review.ts makes the calls.
 *
 *     list ── submitted, with our marker ──────────→ end: said
 *       └→ check ── stop, none of ours ────────────→ end: stopped
 *            ├── stop, one of ours ─→ delete_ours ── already submitted ─→ read_back
 *            ├── go, another in the way ─→ delete_other ─→ list
 *            ├── go, none of ours ───────→ create ── too much in its body ─→ delete_other
 *            └── go, one of ours ────────→ submit ─→ read_back ─→ end: said, unknown
 *
 * Every other answer leads back to `list`, within a bound.
 */
import { Dead, isFailure, type Retry } from '../base/errors.ts'
import { REVIEW_READS_MAX } from '../base/limits.ts'
import type { ReviewMessage } from './github-payloads.ts'
import { afterAcceptance, afterRefusal, allInBody, allInline, type Placing, triesMax } from './inline-bisection.ts'
import { notVisible, type Stopped, type Unknown } from './outcome.ts'
import { hasLine, versionOf } from './review-version.ts'

/** A review seen submitted on GitHub. `repeated` counts further reviews of ours with the marker; it should be 0. */
export interface Said {
  readonly state: 'said'
  readonly reviewId: number
  readonly repeated: number
}

export type Step =
  /** Lists our own reviews. `unanswered` is the create before. */
  | { readonly name: 'list'; readonly unanswered?: Retry | undefined }
  /** The list after a submit: a listed review is said, else `unlisted` is the outcome. */
  | { readonly name: 'read_back'; readonly unlisted: Retry }
  /** Keeps the id of our pending review, and asks whether the message may be said. */
  | { readonly name: 'check'; readonly ours: Ours | undefined; readonly others: readonly number[] }
  | { readonly name: 'delete_other'; readonly id: number; readonly rest: readonly number[] }
  | { readonly name: 'delete_ours'; readonly id: number }
  | { readonly name: 'create'; readonly body: string; readonly comments: ReviewMessage['comments'] }
  | { readonly name: 'submit'; readonly event: ReviewMessage['event']; readonly ours: Ours }

/** The answer to each step. A Retry is a write without an answer: GitHub may have done the write. */
interface Answers {
  readonly list: Listed
  readonly read_back: Listed
  readonly check: 'go' | 'stop'
  readonly delete_other: Deleted
  readonly delete_ours: Deleted
  readonly create:
    | { readonly state: 'created'; readonly id: number }
    | { readonly state: 'refused'; readonly sentence: string }
    | Retry
  readonly submit: 'submitted' | 'gone' | 'not_accepted' | Retry
}
interface Listed {
  readonly said: Said | undefined
  readonly pending: readonly { readonly id: number; readonly body: string }[]
}
type Deleted = 'deleted' | 'gone' | 'not_accepted' | Retry

/** A step with its answer. */
export type Answered<S extends Step = Step> = S extends Step ? S & { readonly answer: Answers[S['name']] } : never

/** The body of an unlisted review of an earlier call is unknown and stays. */
interface Ours {
  readonly id: number
  readonly body: string | undefined
}

/** Facts from the steps so far. */
export interface Known {
  readonly message: ReviewMessage
  readonly readsLeft: number
  readonly placing: Placing
  readonly event: ReviewMessage['event']
  /** Ours, also while GitHub's list lacks the review (AW73). */
  readonly created: Ours | undefined
  /** Deleted by us; GitHub's list may show them for a while. */
  readonly deleted: readonly number[]
  readonly isRefused: boolean
}

export interface State {
  readonly known: Known
  readonly step: Step | { readonly name: 'end'; readonly outcome: Said | Stopped | Unknown }
}

/** GitHub's sentence for a pending review of ours that the list lacked. */
const ONE_PENDING_ONLY = /one pending review/i
/** GitHub's sentences about the place of a comment, API fields included. All others are about the review. */
const ABOUT_A_PLACE = /line|path|position|diff|hunk|thread/i

/** The first step. `pendingId` is the review that an earlier call created for this message. */
export function firstStep(message: ReviewMessage, pendingId: number | undefined): State {
  const count = message.comments.length
  return list({
    message,
    readsLeft: REVIEW_READS_MAX + triesMax(count),
    placing: allInline(count),
    event: message.event,
    created: pendingId === undefined ? undefined : { id: pendingId, body: undefined },
    deleted: [],
    isRefused: false,
  })
}

/** The next step. Throws `dead` for a refusal of something else than a comment, and where no placing is left. */
export function afterStep(known: Known, taken: Answered): State {
  switch (taken.name) {
    case 'list':
    case 'read_back':
      return afterList(known, taken)
    case 'check':
      return afterCheck(known, taken)
    case 'create':
      return afterCreate(known, taken)
    case 'submit':
      return afterSubmit(known, taken.answer)
    default:
      return afterDelete(known, taken)
  }
}

function afterList(known: Known, taken: Answered<{ name: 'list' | 'read_back' } & Step>): State {
  const { said, pending } = taken.answer
  if (said !== undefined) return end(known, said)
  if (taken.name === 'read_back') return leave(known, taken.unlisted)
  const adopted = pending.find(({ body }) => isVersionOf(known, body))
  // An unanswered create that the list lacks gets time, not another try at once.
  if (taken.unanswered !== undefined && adopted === undefined) return leave(known, taken.unanswered)
  // The review isn't pending any more, and the list lacks the submit: time tells, not another review.
  if (known.isRefused && known.event === 'COMMENT') return leave(known, notVisible('the review'))
  // On our own pull request a request for changes is refused (F7): the check run has the verdict then.
  const event = known.isRefused ? 'COMMENT' : known.event
  const ours = adopted ?? known.created
  const others = pending.map(({ id }) => id).filter((id) => id !== ours?.id && !known.deleted.includes(id))
  return { known: { ...known, event }, step: { name: 'check', ours, others } }
}

function afterCheck(known: Known, { ours, others, answer }: Answered<{ name: 'check' } & Step>): State {
  if (answer === 'stop') {
    return ours === undefined ? end(known, { state: 'stopped' }) : { known, step: { name: 'delete_ours', id: ours.id } }
  }
  if (others.length > 0) return deleteOthers(known, others)
  if (ours !== undefined) return { known, step: { name: 'submit', ours, event: known.event } }
  const { body, comments } = versionOf(known.message, known.placing.inBody)
  return { known, step: { name: 'create', body, comments } }
}

function afterDelete(before: Known, taken: Answered<{ id: number } & Step>): State {
  const isGone = taken.answer === 'deleted' || taken.answer === 'gone'
  const known = isGone ? { ...before, deleted: [...before.deleted, taken.id] } : before
  if (taken.name === 'delete_other') return deleteOthers(known, taken.rest)
  // A refused delete means a submit: the next list shows the review as said (IL2).
  if (taken.answer === 'not_accepted') return readBack(known, notVisible('the review'))
  return list(isGone ? { ...known, created: undefined } : known)
}

function afterCreate(known: Known, { body, answer }: Answered<{ name: 'create' } & Step>): State {
  if (isFailure(answer, 'retry')) return list(known, answer)
  if (answer.state === 'refused') {
    if (ONE_PENDING_ONLY.test(answer.sentence)) return list(known)
    const placing = afterRefusal(known.placing, ABOUT_A_PLACE.test(answer.sentence))
    if (placing !== undefined) return list({ ...known, placing })
    throw new Dead(
      'github_refused',
      `GitHub does not accept this review: ${answer.sentence}`,
      'Check that the commit still belongs to the pull request; the review of the newest head replaces this one.',
    )
  }
  const placing = afterAcceptance(known.placing)
  if (placing !== undefined) return deleteOthers({ ...known, placing }, [answer.id])
  return list({ ...known, created: { id: answer.id, body } })
}

function afterSubmit(known: Known, answer: Answers['submit']): State {
  if (isFailure(answer, 'retry')) return readBack(known, answer)
  if (answer === 'submitted') return readBack(known, notVisible('the review'))
  if (answer === 'not_accepted') return list({ ...known, isRefused: true })
  return list({ ...known, created: undefined, isRefused: false })
}

function list(known: Known, unanswered?: Retry): State {
  return read(known, { name: 'list', unanswered })
}

function deleteOthers(known: Known, [id, ...rest]: readonly number[]): State {
  return id === undefined ? list(known) : { known, step: { name: 'delete_other', id, rest } }
}

function readBack(known: Known, unlisted: Retry): State {
  return read(known, { name: 'read_back', unlisted })
}

function read(known: Known, step: Step): State {
  if (known.readsLeft === 0) return leave(known, notVisible('the review'))
  return { known: { ...known, readsLeft: known.readsLeft - 1 }, step }
}

function end(known: Known, outcome: Said | Stopped | Unknown): State {
  return { known, step: { name: 'end', outcome } }
}

function leave(known: Known, because: Retry): State {
  return end(known, { state: 'unknown', because })
}

/** True for a text that the message may end with. */
function isVersionOf({ message, placing }: Known, body: string): boolean {
  const { length } = message.comments
  const whole = [placing, allInline(length), allInBody(length)].filter((one) => afterAcceptance(one) === undefined)
  return hasLine(body, message.marker) && whole.some(({ inBody }) => hasLine(body, versionOf(message, inBody).payload))
}
