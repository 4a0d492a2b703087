/** The one reply to a command is said once, for each answer of GitHub and each death of a poster. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PostDeps } from '../../../functions/post/deps.ts'
import { isReply, postReply } from '../../../functions/post/replies.ts'
import { POST_ERRORS_MAX } from '../../../shared/base/limits.ts'
import { putDocument } from '../../../shared/documents/documents.ts'
import { unreachable } from '../../../shared/github/failures.ts'
import type { GitHub } from '../../../shared/github/github.ts'
import { type HaltScope, liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { type Message, oweReply, readMessages } from '../../../shared/ledger/message.ts'
import { markerOf, type ReplyMessage } from '../../../shared/publishing/github-payloads.ts'
import { replyIdOf } from '../../../shared/runs/run-identity.ts'
import { openPostWorld, type PostWorld, type Subject } from './world.ts'

const COMMENT = 900
const CREATE = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
const CREATED = 'POST /repos/:owner/:repo/issues/:number/comments'
const LIST = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'

let world: PostWorld
let subject: Subject
beforeEach(async () => {
  world = await openPostWorld()
  subject = await world.subject()
})
afterEach(() => world.close())

async function owe(text = 'Done.'): Promise<void> {
  const { ledger, ending } = world.local
  const { repository } = world
  const marker = markerOf.reply(COMMENT)
  const reply: ReplyMessage = { kind: 'reply', marker, body: `${text}\n\n${marker}` }
  const document = await putDocument(ending.documents, reply)
  const replyId = replyIdOf(repository.id, subject.number, COMMENT)
  const options = { writer: randomUUID(), now: world.local.now }
  await oweReply(ledger, { repository, number: subject.number, replyId, document }, options)
}

async function message(): Promise<Message & { readonly dueAt?: number }> {
  const runId = replyIdOf(world.repository.id, subject.number, COMMENT)
  const name = { repositoryId: world.repository.id, number: subject.number, runId }
  const [found] = await readMessages(world.local.ledger, name)
  if (!found) throw new Error('Expected a reply to be owed, found none')
  return found
}

async function post(github: GitHub = world.github): Promise<void> {
  const { ledger, ending } = world.local
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const parts: PostDeps = {
    ledger,
    documents: ending.documents,
    github,
    owner: randomUUID(),
    now: () => world.local.now,
    log: quiet,
  }
  const owed = await message()
  if (isReply(owed)) await postReply(parts, owed)
}

/** Nudges as the sweeper does until nothing is due. */
async function rest(): Promise<void> {
  for (let nudges = 0; nudges < 20; nudges += 1) {
    const { dueAt } = await message()
    if (dueAt === undefined) return
    world.local.now = Math.max(world.local.now, dueAt)
    await post()
  }
  throw new Error('Expected nothing to be due any more')
}

const shown = () => world.seen(subject).issueComments.map(({ body }) => body.split('\n')[0])

describe('a reply', () => {
  it('a reply is said once and recorded with its id, and a further nudge changes nothing', async () => {
    await owe()
    await post()
    await post()
    expect(shown()).toEqual(['Done.'])
    expect(await message()).toMatchObject({ state: 'said', githubId: world.seen(subject).issueComments[0]?.id })
    expect((await message()).dueAt).toBeUndefined()
  })

  it('I9: the reply that was owed first is said, whatever is owed later', async () => {
    await owe('first')
    await owe('second')
    await rest()
    expect(shown()).toEqual(['first'])
  })

  it.each(['bad_gateway_after', 'reset_after', 'truncated_json'] as const)(
    'AW70, LE5: stored by GitHub and not answered (%s): found by its marker, not said again',
    async (kind) => {
      await owe()
      world.standIn.fail({ route: CREATE, kind })
      await post()
      await rest()
      expect(shown()).toEqual(['Done.'])
      expect((await message()).state).toBe('said')
      // Not even for a moment: GitHub notifies everybody who watches the pull request of each comment.
      expect(world.standIn.requests().filter(({ method, route }) => `${method} ${route}` === CREATED)).toHaveLength(1)
    },
  )

  it('IL14: a late unanswered create is deleted by the recheck of a said reply', async () => {
    await owe()
    const unanswered: GitHub = {
      ...world.github,
      createComment: () => Promise.reject(unreachable({ route: CREATE, writes: true }, 'timed out')),
    }
    await post(unanswered)
    world.local.now = (await message()).dueAt ?? 0
    await post()
    const [said] = world.seen(subject).issueComments
    await world.github.createComment(world.repository, subject.number, said?.body ?? '')
    await rest()
    expect(world.seen(subject).issueComments.map(({ id }) => id)).toEqual([said?.id])
  })

  it('D15: a failed list of comments leads to no write, because the outcome is unknown', async () => {
    await owe()
    world.standIn.fail({ route: LIST, kind: 'server_500', times: 2 })
    await post()
    expect(shown()).toEqual([])
    expect((await message()).state).toBe('owed')
    await rest()
    expect(shown()).toEqual(['Done.'])
  })

  it('LE7: the late copy of a poster that wakes up is deleted, and the oldest copy stays', async () => {
    await owe()
    const reached = Promise.withResolvers<void>()
    const woken = Promise.withResolvers<void>()
    const stalling: GitHub = {
      ...world.github,
      async createComment(...args) {
        reached.resolve()
        await woken.promise
        return world.github.createComment(...args)
      },
    }
    const first = post(stalling)
    await reached.promise
    world.local.now += world.local.ledger.timings.postLeaseMs
    await post()
    const [said] = world.seen(subject).issueComments
    woken.resolve()
    await first
    await rest()
    expect(world.seen(subject).issueComments.map(({ id }) => id)).toEqual([said?.id])
  })

  it('a comment of a person that quotes a reply is not ours', async () => {
    const { owner, name } = world.repository
    world.standIn.comment(`${owner}/${name}`, subject.number, 'mia', `Thanks\n${markerOf.reply(COMMENT)}`)
    await owe()
    await rest()
    expect(shown()).toEqual(['Thanks', 'Done.'])
  })

  it('a reply is said in a paused repository; a halt of the fleet or the installation keeps a reply back until lifted', async () => {
    const { ledger } = world.local
    const halt = (scope: HaltScope) => setHalt(ledger, { scope, by: 'ana', why: '', since: world.local.now })
    await halt(`repository/${world.repository.id}`)
    await halt('fleet')
    await owe()
    await post()
    expect(shown()).toEqual([])
    await liftHalt(ledger, 'fleet')
    await halt(`installation/${world.repository.installationId}`)
    await post()
    expect(shown()).toEqual([])
    await liftHalt(ledger, `installation/${world.repository.installationId}`)
    await rest()
    expect(shown()).toEqual(['Done.'])
  })

  it('LE14: a reply that the last attempt makes and can not read is given up, and found by the recheck', async () => {
    await owe()
    world.standIn.fail({ route: CREATE, kind: 'bad_gateway_502', times: POST_ERRORS_MAX - 1 })
    for (let tries = 1; tries < POST_ERRORS_MAX; tries += 1) await post()
    world.local.now += world.local.ledger.timings.postLeaseMs
    let made = false
    await post({
      ...world.github,
      async createComment(...args) {
        const id = await world.github.createComment(...args)
        made = true
        return id
      },
      comments: (...args) =>
        made
          ? Promise.reject(unreachable({ route: LIST, writes: false }, 'timed out'))
          : world.github.comments(...args),
    })
    expect(shown()).toEqual(['Done.'])
    expect(await message()).toMatchObject({ state: 'failed' })
    await rest()
    expect(await message()).toMatchObject({ state: 'said', githubId: world.seen(subject).issueComments[0]?.id })
  })

  it('a refused reply has its reason on the message, and nothing is due after a recheck', async () => {
    await owe()
    world.standIn.setAppPermissions({ pull_requests: 'read', issues: 'read' })
    await post()
    expect(await message()).toMatchObject({ state: 'failed', reason: expect.stringContaining('github_refused') })
    await rest()
    expect(await message()).toMatchObject({ state: 'failed' })
    expect(shown()).toEqual([])
  })
})
