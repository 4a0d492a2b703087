/**
 * Routes of reviews: create (pending, or submitted at once), submit, delete, list. The rules are GitHub's, without
 * tolerance: these rules keep a review from a second submission.
 */
import { z } from 'zod'
import {
  type Answer,
  type Call,
  checkReviewBodyLength,
  notFound,
  ok,
  parseBody,
  type Route,
  unprocessable,
} from '../http.ts'
import { touch } from '../issue-comments.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import { type PullRequest, pullKey, type Repository, type Review, type ReviewState } from '../records.ts'
import { reviewCommentJson, reviewJson } from '../representations/review.ts'
import { type AnchoredComment, anchorComments, CommentInput } from '../review-comments.ts'
import type { Reader, Writer } from '../store/access.ts'
import { authorOf, type World } from '../world.ts'

const Event = z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT'])
type Event = z.infer<typeof Event>

const Create = z.object({
  commit_id: z.string().optional(),
  body: z.string().optional(),
  event: Event.optional(),
  comments: z.array(CommentInput).optional(),
})
const Submit = z.object({ body: z.string().optional(), event: Event })

const STATE_AFTER: Record<Event, ReviewState> = {
  APPROVE: 'APPROVED',
  REQUEST_CHANGES: 'CHANGES_REQUESTED',
  COMMENT: 'COMMENTED',
}

/** GitHub's own ids have reached this size; nothing depends on the size. */
const FIRST_REVIEW_ID = 3_000_000_001
const FIRST_COMMENT_ID = 2_500_000_001

interface Found {
  repository: Repository
  pull: PullRequest
  review: Review
}

export function reviewRoutes(world: World): Route[] {
  const base = '/repos/:owner/:repo/pulls/:number/reviews'
  return [
    { method: 'GET', pattern: base, handle: (call) => list(world, call) },
    { method: 'POST', pattern: base, handle: (call) => create(world, call) },
    { method: 'DELETE', pattern: `${base}/:id`, handle: (call) => remove(world, call) },
    { method: 'POST', pattern: `${base}/:id/events`, handle: (call) => submit(world, call) },
    { method: 'GET', pattern: `${base}/:id/comments`, handle: (call) => comments(world, call) },
  ]
}

function list(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const reviews = world
    .readerFor(call)
    .list('review', pullKey(repository.id, pull.number))
    .filter((review) => visible(call, review))
  const page = pageOf(call)
  const shown = slice(reviews, page).map((review) => reviewJson(call.url.origin, repository, pull, review))
  return ok(shown, linkHeader(call, page, reviews.length))
}

async function create(world: World, call: Call): Promise<Answer> {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const input = parseBody(Create, call)
  const body = input.body ?? ''
  checkReviewBodyLength(body)
  const commitId = input.commit_id ?? pull.head.sha
  if (!pull.heads.includes(commitId) && !(await isCommitOf(world, repository, pull, commitId))) {
    throw unprocessable('commit_id is not part of the pull request')
  }
  const placed = await anchorComments(world, repository, pull, commitId, input.comments ?? [])
  const author = authorOf(call.actor)
  const key = pullKey(repository.id, pull.number)
  const review = world.store.change((writer) => {
    // Also refuses a review submitted at once: an author's pending review must be settled first.
    if (writer.list('review', key).some((other) => other.state === 'PENDING' && other.author.login === author.login)) {
      throw unprocessable('User can only have one pending review per pull request')
    }
    const created: Review = {
      id: writer.next('review', FIRST_REVIEW_ID),
      author,
      body,
      state: 'PENDING',
      commitId,
      submittedAt: null,
    }
    for (const comment of placed) putComment(world, writer, key, created, comment)
    const said = input.event === undefined ? created : saidAs(input.event, created, pull, placed.length, world.now())
    writer.put('review', said.id, key, said)
    if (said.state !== 'PENDING') touch(writer, repository, pull.number, world.now())
    return said
  })
  return answer(call, { repository, pull, review })
}

function submit(world: World, call: Call): Answer {
  const input = parseBody(Submit, call)
  if (input.body !== undefined) checkReviewBodyLength(input.body)
  return world.store.change((writer) => {
    const found = find(world, call, writer)
    const { repository, pull, review } = found
    if (review.state !== 'PENDING') throw unprocessable('Could not submit a review that is not pending')
    const key = pullKey(repository.id, pull.number)
    const count = writer.list('reviewComment', key).filter((comment) => comment.reviewId === review.id).length
    touch(writer, repository, pull.number, world.now())
    const said = saidAs(input.event, { ...review, body: input.body ?? review.body }, pull, count, world.now())
    writer.put('review', said.id, key, said)
    return answer(call, { ...found, review: said })
  })
}

function remove(world: World, call: Call): Answer {
  return world.store.change((writer) => {
    const found = find(world, call, writer)
    if (found.review.state !== 'PENDING') throw unprocessable('Can not delete a non-pending pull request review')
    for (const comment of writer.list('reviewComment', pullKey(found.repository.id, found.pull.number))) {
      if (comment.reviewId === found.review.id) writer.remove('reviewComment', comment.id)
    }
    writer.remove('review', found.review.id)
    return answer(call, found)
  })
}

function comments(world: World, call: Call): Answer {
  const { repository, pull, review } = find(world, call, world.readerFor(call))
  const own = world
    .readerFor(call)
    .list('reviewComment', pullKey(repository.id, pull.number))
    .filter((comment) => comment.reviewId === review.id)
  const page = pageOf(call)
  const shown = slice(own, page).map((comment) => reviewCommentJson(call.url.origin, repository, pull, comment))
  return ok(shown, linkHeader(call, page, own.length))
}

/** A review in the state of its event, if GitHub's rules allow the submission. */
function saidAs(event: Event, review: Review, pull: PullRequest, commentCount: number, nowMs: number): Review {
  const own = pull.author.login === review.author.login
  if (own && event === 'APPROVE') throw unprocessable('Can not approve your own pull request')
  if (own && event === 'REQUEST_CHANGES') throw unprocessable('Can not request changes on your own pull request')
  const hasBody = review.body.trim() !== ''
  if (event === 'REQUEST_CHANGES' && !hasBody) throw unprocessable('A body is required to request changes')
  if (event === 'COMMENT' && !hasBody && commentCount === 0) throw unprocessable('A comment needs a body or comments')
  return { ...review, state: STATE_AFTER[event], submittedAt: nowMs }
}

function find(world: World, call: Call, reader: Reader): Found {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const review = reader
    .list('review', pullKey(repository.id, pull.number))
    .find((candidate) => candidate.id === Number(call.params.id))
  if (review === undefined || !visible(call, review)) throw notFound()
  return { repository, pull, review }
}

/** A pending review exists for its author alone. */
function visible(call: Call, review: Review): boolean {
  return review.state !== 'PENDING' || authorOf(call.actor).login === review.author.login
}

function putComment(world: World, writer: Writer, key: string, review: Review, comment: AnchoredComment): void {
  const at = world.now()
  const id = writer.next('reviewComment', FIRST_COMMENT_ID)
  writer.put('reviewComment', id, key, {
    ...comment,
    id,
    reviewId: review.id,
    author: review.author,
    commitId: review.commitId,
    createdAt: at,
    updatedAt: at,
  })
}

async function isCommitOf(world: World, repository: Repository, pull: PullRequest, sha: string): Promise<boolean> {
  const git = await world.gitOf(repository)
  const commit = /^[0-9a-f]{40,64}$/.test(sha) ? await git.commit(sha) : null
  return commit !== null && (await git.mergeBase(sha, pull.head.sha)) === sha
}

function answer(call: Call, { repository, pull, review }: Found): Answer {
  return ok(reviewJson(call.url.origin, repository, pull, review))
}
