/** The meaning of a command for a pull request: the present facts in, one decision out. Pure. */

import { HEAD_VISIBLE_WITHIN_MS } from '../../../shared/base/limits.ts'
import type { PullRequest } from '../../../shared/github/github.ts'
import type { Halt } from '../../../shared/ledger/halt.ts'
import { commandIn } from '../../../shared/runs/comment-command.ts'
import type { RecordedEvent } from '../../../shared/runs/event.ts'
import { isPause } from '../../../shared/runs/halt.ts'
import { isLive, isWorthAnotherAttempt, type Run, type RunRequest } from '../../../shared/runs/run.ts'
import { causeOf, runRequestOf } from '../../../shared/runs/run-identity.ts'
import type { Thread } from '../../../shared/runs/thread.ts'
import { replyTexts } from './replies.ts'

/** The event of a comment with a command, as recorded by the webhook. */
export type RecordedCommand = Extract<RecordedEvent, { kind: 'command' }>

export interface CommandFacts {
  readonly event: RecordedCommand
  /** The permission of the comment's author, as GitHub shows it now. */
  readonly permission: 'admin' | 'write' | 'read' | 'none'
  readonly pullRequest: Pick<PullRequest, 'head' | 'base' | 'state' | 'updatedAt'>
  readonly thread: Thread | undefined
  /** The run named by the thread. */
  readonly threadRun: Run | undefined
  /** The run whose cause is the head shown by GitHub. */
  readonly headRun: Run | undefined
  /** The widest halt standing for the repository. */
  readonly halt: Halt | undefined
  /** The repository's own halt. */
  readonly repositoryHalt: Halt | undefined
  /** ms UTC */
  readonly now: number
}

export type Decision =
  | { readonly kind: 'reply'; readonly text: string }
  /** GitHub still shows the pull request as before the comment: look again. */
  | { readonly kind: 'wait' }
  /** `liveRun` reviews the same head already. */
  | { readonly kind: 'review'; readonly request: RunRequest; readonly liveRun?: Run }
  | { readonly kind: 'cancel' | 'retry'; readonly run: Run }
  | { readonly kind: 'pause'; readonly why: string }
  | { readonly kind: 'resume' }
  | { readonly kind: 'status'; readonly run: Run | undefined }

export function decide(facts: CommandFacts): Decision {
  const { event, permission, repositoryHalt } = facts
  const command = commandIn(event.text)
  if (!command) return reply(replyTexts.help())
  if (permission !== 'admin' && permission !== 'write') return reply(replyTexts.notAllowed())
  switch (command.name) {
    case 'help':
      return reply(replyTexts.help())
    case 'unknown':
      return reply(replyTexts.unknown(command.word))
    case 'short_sha':
      return reply(replyTexts.shortSha(command.word))
    case 'review':
      return review(facts, command)
    case 'cancel':
      return cancel(facts)
    case 'retry':
      return retry(facts)
    case 'pause':
      return { kind: 'pause', why: command.why }
    case 'resume':
      if (repositoryHalt && !isPause(repositoryHalt)) return reply(replyTexts.haltedByOperator())
      return { kind: 'resume' }
    case 'status':
      return { kind: 'status', run: candidateRuns(facts)[0] }
  }
}

/**
 * A SHA is a precondition: the head on GitHub must equal it, or begin with it. While GitHub lags behind the comment, the
 * decision is to wait: an older head is never reviewed in place of the intended head (PL7, PL8, PL9).
 */
function review(facts: CommandFacts, { sha, focus }: { readonly sha?: string; readonly focus?: string }): Decision {
  const { event, pullRequest, threadRun, headRun } = facts
  const { repository, number } = event
  const head = pullRequest.head.sha
  const isHeadNamed = sha !== undefined && head.startsWith(sha) && pullRequest.state === 'open'
  if (isBehind(facts) && !isHeadNamed) return { kind: 'wait' }
  if (sha !== undefined && !head.startsWith(sha)) return reply(replyTexts.headMismatch(sha, head))
  if (pullRequest.state === 'closed') return reply(replyTexts.closed())
  const liveRun = [threadRun, headRun].find(
    (run) => run !== undefined && isLive(run.state) && run.head === head && run.kind === 'full',
  )
  // With the head as the cause, every request for the head meets in one run (D5, D7). A focus makes another review,
  // whose cause is the comment.
  const cause = focus === undefined ? causeOf.head(head, pullRequest.base.ref) : event.cause
  const request = runRequestOf({
    repository,
    number,
    cause,
    kind: 'full',
    head,
    baseRef: pullRequest.base.ref,
    opensSeries: false,
    eventAt: event.eventAt,
    askedBy: 'person',
    ...(focus === undefined ? {} : { focus }),
  })
  return { kind: 'review', request, ...(liveRun ? { liveRun } : {}) }
}

/** Cancels only a run accepted before the command: a late command must not end a later run. */
function cancel(facts: CommandFacts): Decision {
  const runs = candidateRuns(facts)
  const liveRuns = runs.filter(({ state }) => isLive(state))
  const run = liveRuns.find(({ acceptedAt }) => acceptedAt <= facts.event.acceptedAt)
  if (run) return { kind: 'cancel', run }
  return reply(liveRuns[0] ? replyTexts.laterRun(liveRuns[0]) : replyTexts.nothingAtWork(runs[0]))
}

/**
 * Retries a run of the head: the last full review if incomplete, as a full review reads the description too; otherwise the
 * likeliest run, even the failed run of an edited description.
 */
function retry(facts: CommandFacts): Decision {
  const { head } = facts.pullRequest
  const runs = candidateRuns(facts)
  if (runs[0]?.head !== head.sha && isBehind(facts)) return { kind: 'wait' }
  const ofHead = runs.filter((run) => run.head === head.sha)
  const full = ofHead.find((run) => run.kind === 'full')
  const run = full && isWorthAnotherAttempt(full) ? full : ofHead[0]
  return run ? { kind: 'retry', run } : reply(replyTexts.nothingToRetry(head.sha))
}

/** True while GitHub shows the pull request as before the comment; for a bounded time. */
function isBehind({ event, pullRequest, now }: CommandFacts): boolean {
  return pullRequest.updatedAt < event.eventAt && now - event.acceptedAt < HEAD_VISIBLE_WITHIN_MS
}

/**
 * The known runs, likeliest meant first: a live run, then a run of the head on GitHub, then the latest run. A superseded run
 * stands behind its successor, even if accepted later.
 */
function candidateRuns({ threadRun, headRun, pullRequest }: CommandFacts): Run[] {
  const rank = (run: Run) =>
    (isLive(run.state) ? 4 : 0) + (run.head === pullRequest.head.sha ? 2 : 0) + (run.outcome === 'superseded' ? 0 : 1)
  return [threadRun, headRun]
    .filter((run) => run !== undefined)
    .toSorted((a, b) => rank(b) - rank(a) || b.acceptedAt - a.acceptedAt)
}

function reply(text: string): Decision {
  return { kind: 'reply', text }
}
