/** A command in a comment over the real ledger; the test decides about GitHub. */
import type { RecordedCommand } from '../../../functions/command/core/command.ts'
import { type CommandDeps, doCommand } from '../../../functions/command/do-command.ts'
import { openLog } from '../../../shared/aws/log.ts'
import { getDocument } from '../../../shared/documents/documents.ts'
import { readMessages } from '../../../shared/ledger/message.ts'
import { replyMessageSchema } from '../../../shared/publishing/github-payloads.ts'
import { replyIdOf } from '../../../shared/runs/run-identity.ts'
import type { World } from '../../shared/ledger/world.ts'
import { repository, requestOf } from '../../shared/samples.ts'

let comments = 900

/** The reply to a comment of mia, who has write access, a minute later; GitHub shows the head of `requestOf`. */
export async function answerTo(world: World, text: string): Promise<string> {
  world.now += 60_000
  comments += 1
  const event: RecordedCommand = {
    kind: 'command',
    repository,
    number: 42,
    cause: `comment:${comments}`,
    eventAt: world.now,
    acceptedAt: world.now,
    commentId: comments,
    author: 'mia',
    text,
    payloadDigest: 'd',
  }
  const pullRequest = { head: { sha: requestOf().head }, base: { ref: 'main' }, state: 'open', updatedAt: world.now }
  const github = { permission: async () => 'write', pullRequest: async () => pullRequest }
  const deps = { ...world.ending, github, log: openLog('command') } as unknown as CommandDeps
  await doCommand(deps, event)
  const runId = replyIdOf(repository.id, 42, comments)
  const [message] = await readMessages(world.ledger, { repositoryId: repository.id, number: 42, runId })
  if (!message) throw new Error('Expected a reply to be owed, found none')
  return (await getDocument(world.ending.documents, message.document, replyMessageSchema)).body
}
