/** Routes of comments on the pull request as a whole, and of its labels. */
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
import { type IssueComment, pullKey, type Repository } from '../records.ts'
import { issueCommentJson, labelJson } from '../representations/pull.ts'
import type { Reader, Writer } from '../store/access.ts'
import { authorOf, type World } from '../world.ts'

const Body = z.object({ body: z.string() })
const Labels = z.object({ labels: z.array(z.string()) })

/** "Label names … maximum is 50 characters": GitHub's own refusal. */
const LABEL_CHARACTERS_MAX = 50

export function commentRoutes(world: World): Route[] {
  const issues = '/repos/:owner/:repo/issues'
  return [
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

function list(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const pull = world.pullFor(call, repository)
  const comments = world.readerFor(call).list('issueComment', pullKey(repository.id, pull.number))
  const page = pageOf(call)
  const part = slice(comments, page).map((comment) => issueCommentJson(call.url.origin, world.app, repository, comment))
  return ok(part, linkHeader(call, page, comments.length))
}

function create(world: World, call: Call): Answer {
  const repository = world.repositoryFor(call)
  const { number } = world.pullFor(call, repository)
  const { body } = checked(call)
  const author = authorOf(call.actor)
  const at = world.now()
  const comment = world.store.change((writer) =>
    addIssueComment(writer, repository, { number, author, body, createdAt: at, updatedAt: at }),
  )
  return { ...shown(world, call, comment), status: 201 }
}

function update(world: World, call: Call): Answer {
  const { body } = checked(call)
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
  // Ids are unique over all repositories, so the address must also name the right repository.
  const pull = comment && reader.get('pull', pullKey(repository.id, comment.number))
  const belongs =
    pull && reader.list('issueComment', pullKey(repository.id, pull.number)).some(({ id }) => id === comment.id)
  if (comment === undefined || !belongs) throw notFound()
  return comment
}

function shown(world: World, call: Call, comment: IssueComment): Answer {
  return ok(issueCommentJson(call.url.origin, world.app, world.repositoryFor(call), comment))
}

function checked(call: Call): { body: string } {
  const input = parseBody(Body, call)
  if (input.body.trim() === '') throw invalidField('IssueComment', 'body', 'body cannot be blank')
  checkBodyLength('IssueComment', input.body)
  return input
}

function labelRoutes(world: World, pattern: string): Route[] {
  const change = (call: Call, decide: (now: string[]) => string[]): Answer => {
    const repository = world.repositoryFor(call)
    return world.store.change((writer: Writer) => {
      const key = pullKey(repository.id, world.pullFor(call, repository).number)
      const pull = writer.get('pull', key)
      if (pull === undefined) throw notFound()
      const labels = decide(pull.labels)
      writer.put('pull', key, repository.id, { ...pull, labels, updatedAt: world.now() })
      return shownLabels(call, repository, labels)
    })
  }
  const wanted = (call: Call): string[] => {
    const { labels } = parseBody(Labels, call)
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
  return ok(labels.map((name) => labelJson(call.url.origin, repository, name)))
}

/** GitHub compares labels without case, and keeps the first spelling. */
function distinct(labels: readonly string[]): string[] {
  return labels.filter((name, index) => labels.findIndex((other) => sameLabel(other, name)) === index)
}

function sameLabel(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
