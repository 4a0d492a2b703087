/** Carries out a command: reads the facts, decides, acts, and owes the comment one reply. */
import type { Log } from '../../shared/aws/log.ts'
import { nudge } from '../../shared/aws/queue.ts'
import { Retry } from '../../shared/base/errors.ts'
import { CONTRACT, GITHUB_UNREACHABLE_MS } from '../../shared/base/limits.ts'
import { cancelRun } from '../../shared/coordinator/cancel.ts'
import type { EndingDeps } from '../../shared/coordinator/ending.ts'
import { grantSlots } from '../../shared/coordinator/grant-slots.ts'
import { retryRun, startRun } from '../../shared/coordinator/start-run.ts'
import { putDocument } from '../../shared/documents/documents.ts'
import type { GitHub } from '../../shared/github/github.ts'
import { haltOn, liftHalt, setHalt, standingHalts } from '../../shared/ledger/halt.ts'
import { oweReply } from '../../shared/ledger/message.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { markerOf, type ReplyMessage } from '../../shared/publishing/github-payloads.ts'
import { isPause, pausedBy } from '../../shared/runs/halt.ts'
import { causeOf, replyIdOf, runIdOf } from '../../shared/runs/run-identity.ts'
import { type CommandFacts, type Decision, decide, type RecordedCommand } from './core/command.ts'
import { replyTexts, statusText } from './core/replies.ts'

export interface CommandDeps extends EndingDeps {
  readonly github: GitHub
  readonly log: Log
}

/**
 * Repeatable: a repeated command has the same effect, and the first reply stands. Throws Retry `head_not_visible` while GitHub
 * lags behind the comment.
 */
export async function doCommand(deps: CommandDeps, event: RecordedCommand): Promise<void> {
  const facts = await factsOf(deps, event)
  const decision = decide(facts)
  if (decision.kind === 'wait') {
    throw new Retry('head_not_visible', 'GitHub does not show the intended head yet.', GITHUB_UNREACHABLE_MS)
  }
  await reply(deps, event, await act(deps, facts, decision))
  deps.log.info('Command done', { outcome: decision.kind })
}

async function factsOf({ ledger, github, now }: CommandDeps, event: RecordedCommand): Promise<CommandFacts> {
  const { repository, number } = event
  const [permission, pullRequest, thread, halts] = await Promise.all([
    github.permission(repository, event.author),
    github.pullRequest(repository, number),
    readThread(ledger, repository.id, number),
    standingHalts(ledger),
  ])
  const headRunId = runIdOf(repository.id, number, causeOf.head(pullRequest.head.sha, pullRequest.base.ref))
  const [threadRun, headRun] = await Promise.all([
    thread?.liveRun ? readRun(ledger, thread.liveRun.runId) : undefined,
    readRun(ledger, headRunId),
  ])
  const scope = `repository/${repository.id}` as const
  const repositoryHalt = halts[scope]
  return {
    event,
    permission,
    pullRequest,
    thread,
    threadRun,
    headRun,
    halt: haltOn(halts, repository),
    repositoryHalt: repositoryHalt && { scope, ...repositoryHalt },
    now: now(),
  }
}

/** Acts, and returns the text of the reply. */
async function act(deps: CommandDeps, facts: CommandFacts, decision: Exclude<Decision, { kind: 'wait' }>) {
  const { ledger, now } = deps
  const { event, halt, thread, pullRequest } = facts
  const scope = `repository/${event.repository.id}` as const
  switch (decision.kind) {
    case 'reply':
      return decision.text
    case 'review':
      return review(deps, facts, decision)
    case 'cancel': {
      const run = await cancelRun(deps, decision.run.runId, `@${event.author}`)
      return replyTexts.nothingAtWork(run)
    }
    case 'retry': {
      const retried = await retryRun(deps, decision.run.runId, event.cause)
      if (!retried || retried.kind === 'conflict') return replyTexts.conflict()
      if (retried.kind === 'nothing_missing') return replyTexts.nothingMissing(retried.run)
      return retried.kind === 'joined' ? replyTexts.joined(retried.run) : replyTexts.again(retried.run.head)
    }
    case 'pause': {
      const standing = await setHalt(ledger, { scope, by: pausedBy(event.author), why: decision.why, since: now() })
      return isPause(standing) ? replyTexts.paused() : replyTexts.haltedByOperator()
    }
    case 'resume': {
      // An operator may have halted since the decision.
      const lifted = await liftHalt(ledger, scope, isPause)
      if (lifted.kind === 'stays') return replyTexts.haltedByOperator()
      await grantSlots(deps)
      return replyTexts.resumed(lifted.kind === 'lifted')
    }
    case 'status': {
      const { run } = decision
      const reviews = run?.planKey ? await readReviews(ledger, run.runId, run.planKey) : []
      return statusText({ head: pullRequest.head.sha, run, reviews, thread, halt })
    }
  }
}

async function review(
  deps: CommandDeps,
  { event, halt }: CommandFacts,
  { request, liveRun }: Extract<Decision, { kind: 'review' }>,
): Promise<string> {
  const paragraphs: string[] = []
  if (liveRun && liveRun.runId !== request.runId) {
    paragraphs.push(replyTexts.joined(liveRun))
    if (request.focus !== undefined) paragraphs.push(replyTexts.focusComesLate())
  } else {
    const { kind, run } = await startRun(deps, request, event.cause)
    if (kind === 'conflict') return replyTexts.conflict()
    if (kind === 'joined') paragraphs.push(replyTexts.joined(run))
    else paragraphs.push(run.attempt > 1 ? replyTexts.again(run.head) : replyTexts.started(run.head))
  }
  if (halt) paragraphs.push(replyTexts.haltStands(halt))
  return paragraphs.join('\n\n')
}

async function reply(deps: CommandDeps, event: RecordedCommand, text: string): Promise<void> {
  const { ledger, documents, outbox, nonce, now } = deps
  const { repository, number, commentId } = event
  const marker = markerOf.reply(commentId)
  const message: ReplyMessage = { kind: 'reply', marker, body: `${text}\n\n${marker}` }
  const replyId = replyIdOf(repository.id, number, commentId)
  const document = await putDocument(documents, message)
  await oweReply(ledger, { repository, number, replyId, document }, { writer: nonce(), now: now() })
  await nudge(outbox, { contract: CONTRACT, repositoryId: repository.id, number, runId: replyId }, nonce())
}
