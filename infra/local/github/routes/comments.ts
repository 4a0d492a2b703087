/** Routes of comments: those on lines, with replies, and those on the pull request as a whole; and of labels. */
import { z } from 'zod'
import {
  type Answer,
  type Call,
  checkBodyLength,
  invalidField,
  notFound,
  ok,
  parseBody,
  Refusal,
  type Route,
} from '../http.ts'
import { addIssueComment, touch } from '../issue-comments.ts'
import { linkHeader, pageOf, slice } from '../pagination.ts'
import { type IssueComment, type PullRequest, pullKey, type Repository, type ReviewComment } from '../records.ts'
import { issueCommentShape, labelShape } from '../shapes/pull.ts'
import { reviewCommentShape } from '../shapes/review.ts'
import type { Reader, Writer } from '../store/access.ts'
import { authorOf, type World } from '../world.ts'

const Body = z.object({ body: z.string() })
const Labels = z.union([
  z.array(z.string()),
  z.object({ labels: z.array(z.string()) }).transform(({ labels }) => labels),
])

/** "Label names … maximum is 50 characters": GitHub's own refusal. */
const LABEL_CHARACTERS_MAX = 50

const FIRST_REPLY_ID = 2_500_000_001

export function commentRoutes(world: World): Route[] {
  const pulls = '/repos/:owner/:repo/pulls'
  const issues = '/repos/:owner/:repo/issues'
  return [
    { method: 'GET', pattern: `${pulls}/:number/comments`, handle: (call) => listOnLines(world, call) },
    { method: 'POST', pattern: `${pulls}/:number/comments/:id/replies`, handle: (call) => reply(world, call) },
    { method: 'GET', pattern: `${pulls}/comments/:id`, handle: (call) => onLine(world, call) },
    { method: 'GET', pattern: `${issues}/:number/comments`, handle: (call) => list(world, call) },
    { method: 'POST', pattern: `${issues}/:number/comments`, handle: (call) => create(world, call) },
    {
      method: 'GET',
      pattern: `${issues}/comments/:id`,
      handle: (call) => shown(world, call, find(world, call, world.readerFor(call))),
    },
    { method: 'PATCH', pattern: `${issues}/comments/:id`, handle: (call) => update(world, call) },
    { method: 'DELETE', pattern: `${issues}/comments/:id`, handle: (call) => remove(world, call) },
    ...labelRoutes(world, `${issues}/:number/labels`),
  ]
}

function listOnLines(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const comments = saidOnLines(world.readerFor(call), repository, pull)
  const page = pageOf(call)
  const part = slice(comments, page).map((comment) => reviewCommentShape(call.url.origin, repository, pull, comment))
  return ok(part, linkHeader(call, page, comments.length))
}

function onLine(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  for (const pull of world.readerFor(call).list('pull', repository.id)) {
    const comment = saidOnLines(world.readerFor(call), repository, pull).find(({ id }) => id === Number(call.params.id))
    if (comment !== undefined) return ok(reviewCommentShape(call.url.origin, repository, pull, comment))
  }
  throw notFound()
}

/** A reply makes a review of its own, as on GitHub: said at once, with no body. Replies answer the first comment only. */
function reply(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const { body } = checked(call, 'PullRequestReviewComment')
  const author = authorOf(call.actor)
  const key = pullKey(repository.id, pull.number)
  const at = world.now()
  return world.store.change((writer) => {
    const first = saidOnLines(writer, repository, pull).find(({ id }) => id === Number(call.params.id))
    if (first === undefined) throw notFound()
    if (first.inReplyTo !== null) throw new Refusal(422, 'Replies to replies are not supported')
    const reviewId = writer.next('review', FIRST_REPLY_ID)
    const review = {
      id: reviewId,
      author,
      body: '',
      state: 'COMMENTED',
      commitId: pull.head.sha,
      submittedAt: at,
    } as const
    writer.put('review', reviewId, key, review)
    const id = writer.next('reviewComment', FIRST_REPLY_ID)
    const comment = { ...first, id, reviewId, author, body, inReplyTo: first.id, createdAt: at, updatedAt: at }
    writer.put('reviewComment', id, key, comment)
    touch(writer, repository, pull.number, at)
    return { status: 201, json: reviewCommentShape(call.url.origin, repository, pull, comment) }
  })
}

/** Comments of a pending review are invisible, also to its author, except through the review itself. */
function saidOnLines(reader: Reader, repository: Repository, pull: PullRequest): ReviewComment[] {
  const key = pullKey(repository.id, pull.number)
  const pending = new Set(reader.list('review', key).flatMap(({ id, state }) => (state === 'PENDING' ? [id] : [])))
  return reader.list('reviewComment', key).filter((comment) => !pending.has(comment.reviewId))
}

function list(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const since = Date.parse(call.url.searchParams.get('since') ?? '') || 0
  const comments = world
    .readerFor(call)
    .list('issueComment', pullKey(repository.id, pull.number))
    .filter((comment) => comment.updatedAt >= since)
  const page = pageOf(call)
  const part = slice(comments, page).map((comment) =>
    issueCommentShape(call.url.origin, world.app, repository, comment),
  )
  return ok(part, linkHeader(call, page, comments.length))
}

function create(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const { number } = world.pullFor(call, repository)
  const { body } = checked(call, 'IssueComment')
  const author = authorOf(call.actor)
  const at = world.now()
  const comment = world.store.change((writer) =>
    addIssueComment(writer, repository, { number, author, body, createdAt: at, updatedAt: at }),
  )
  return { ...shown(world, call, comment), status: 201 }
}

function update(world: World, call: Call): Answer {
  const { body } = checked(call, 'IssueComment')
  return world.store.change((writer) => {
    const comment = { ...find(world, call, writer), body, updatedAt: world.now() }
    const repository = world.repositoryFor(call)
    writer.put('issueComment', comment.id, pullKey(repository.id, comment.number), comment)
    touch(writer, repository, comment.number, world.now())
    return shown(world, call, comment)
  })
}

function remove(world: World, call: Call): Answer {
  return world.store.change((writer) => {
    const { id } = find(world, call, writer)
    writer.remove('issueComment', id)
    return { status: 204 }
  })
}

function find(world: World, call: Call, reader: Reader): IssueComment {
  const repository = world.repositoryFor(call)
  const comment = reader.get('issueComment', Number(call.params.id))
  // Ids are unique over all repositories, so the address must also name the right one.
  const pull = comment && reader.get('pull', pullKey(repository.id, comment.number))
  const belongs =
    pull && reader.list('issueComment', pullKey(repository.id, pull.number)).some(({ id }) => id === comment.id)
  if (comment === undefined || !belongs) throw notFound()
  return comment
}

function shown(world: World, call: Call, comment: IssueComment): Answer {
  return ok(issueCommentShape(call.url.origin, world.app, world.repositoryFor(call), comment))
}

function checked(call: Call, resource: string): { body: string } {
  const input = parseBody(Body, call)
  if (input.body.trim() === '') throw invalidField(resource, 'body', 'body cannot be blank')
  checkBodyLength(resource, input.body)
  return input
}

function labelRoutes(world: World, pattern: string): Route[] {
  const change = (call: Call, decide: (now: string[]) => string[], status = 200): Answer => {
    const repository = world.repositoryFor(call)
    return world.store.change((writer: Writer) => {
      const key = pullKey(repository.id, world.pullFor(call, repository).number)
      const pull = writer.get('pull', key)
      if (pull === undefined) throw notFound()
      const labels = decide(pull.labels)
      writer.put('pull', key, repository.id, { ...pull, labels, updatedAt: world.now() })
      return status === 204 ? { status } : shownLabels(call, repository, labels)
    })
  }
  const wanted = (call: Call): string[] => {
    const labels = parseBody(Labels, call)
    for (const name of labels) {
      if (name.trim() === '' || [...name].length > LABEL_CHARACTERS_MAX) {
        throw invalidField('Label', 'name', `name is too long (maximum is ${LABEL_CHARACTERS_MAX} characters) or blank`)
      }
    }
    return labels
  }
  return [
    {
      method: 'GET',
      pattern,
      handle: (call) => {
        const repository = world.repositoryFor(call)
        return shownLabels(call, repository, world.pullFor(call, repository).labels)
      },
    },
    { method: 'POST', pattern, handle: (call) => change(call, (now) => distinct([...now, ...wanted(call)])) },
    { method: 'PUT', pattern, handle: (call) => change(call, () => distinct(wanted(call))) },
    { method: 'DELETE', pattern, handle: (call) => change(call, () => [], 204) },
    {
      method: 'DELETE',
      pattern: `${pattern}/:name`,
      handle: (call) =>
        change(call, (now) => {
          const kept = now.filter((name) => !sameLabel(name, call.params.name ?? ''))
          if (kept.length === now.length) throw new Refusal(404, 'Label does not exist')
          return kept
        }),
    },
  ]
}

function shownLabels(call: Call, repository: Repository, labels: readonly string[]): Answer {
  return ok(labels.map((name) => labelShape(call.url.origin, repository, name)))
}

/** GitHub compares labels without case, and keeps the first spelling. */
function distinct(labels: readonly string[]): string[] {
  return labels.filter((name, index) => labels.findIndex((other) => sameLabel(other, name)) === index)
}

function sameLabel(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
