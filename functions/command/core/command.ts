/** What a command means, given how everything is at that moment. Pure: facts in, one decision out. */

import { HEAD_VISIBLE_WITHIN_MS } from '../../../shared/base/limits.ts'
import type { PullRequest } from '../../../shared/github/github.ts'
import type { Halt } from '../../../shared/ledger/halt.ts'
import { commandIn } from '../../../shared/runs/comment-command.ts'
import type { RecordedEvent } from '../../../shared/runs/event.ts'
import { isPause } from '../../../shared/runs/halt.ts'
import { isLive, isWorthAnotherAttempt, type Run, type RunRequest } from '../../../shared/runs/run.ts'
import { causeOf, runRequestOf } from '../../../shared/runs/run-identity.ts'
import type { Thread } from '../../../shared/runs/thread.ts'
import { sayings } from './replies.ts'

export type Command = Extract<RecordedEvent, { kind: 'command' }>

export interface CommandFacts {
  readonly command: Command
  /** What its author may do, as GitHub says now. */
  readonly permission: 'admin' | 'write' | 'read' | 'none'
  readonly pullRequest: Pick<PullRequest, 'head' | 'base' | 'state' | 'updatedAt'>
  readonly thread: Thread | undefined
  /** The run that the thread names, and the one whose cause is the head that GitHub shows. */
  readonly threadRun: Run | undefined
  readonly headRun: Run | undefined
  /** The widest halt that stands for the repository, and the repository's own. */
  readonly halt: Halt | undefined
  readonly repositoryHalt: Halt | undefined
  /** ms UTC */
  readonly now: number
}

export type Decision =
  | { readonly kind: 'reply'; readonly text: string }
  /** GitHub doesn't show yet what the comment was written about: look again. */
  | { readonly kind: 'wait' }
  /** `joins`: the live run that reviews this head already. */
  | { readonly kind: 'review'; readonly request: RunRequest; readonly joins?: Run }
  | { readonly kind: 'cancel' | 'retry'; readonly run: Run }
  | { readonly kind: 'pause'; readonly why: string }
  | { readonly kind: 'resume' }
  | { readonly kind: 'status'; readonly run: Run | undefined }

export function decide(facts: CommandFacts): Decision {
  const { command, permission, repositoryHalt } = facts
  const asked = commandIn(command.text)
  if (!asked) return reply(sayings.help())
  if (permission !== 'admin' && permission !== 'write') return reply(sayings.notAllowed())
  switch (asked.name) {
    case 'help':
      return reply(sayings.help())
    case 'unknown':
      return reply(sayings.unknown(asked.word))
    case 'short_sha':
      return reply(sayings.shortSha(asked.word))
    case 'review':
      return review(facts, asked)
    case 'cancel':
      return cancel(facts)
    case 'retry':
      return retry(facts)
    case 'pause':
      return { kind: 'pause', why: asked.why }
    case 'resume':
      if (repositoryHalt && !isPause(repositoryHalt)) return reply(sayings.haltedByOperator())
      return { kind: 'resume' }
    case 'status':
      return { kind: 'status', run: meantFirst(facts)[0] }
  }
}

/**
 * A SHA is a precondition: the head that GitHub shows must be it, or begin with it. While GitHub is behind the comment, it
 * is looked at again, so that an older head is never reviewed in place of the one that is meant (PL7, PL8, PL9).
 */
function review(facts: CommandFacts, { sha, focus }: { readonly sha?: string; readonly focus?: string }): Decision {
  const { command, pullRequest, threadRun, headRun } = facts
  const { repository, number } = command
  const head = pullRequest.head.sha
  const isMeant = sha !== undefined && head.startsWith(sha) && pullRequest.state === 'open'
  if (isBehind(facts) && !isMeant) return { kind: 'wait' }
  if (sha !== undefined && !head.startsWith(sha)) return reply(sayings.headMismatch(sha, head))
  if (pullRequest.state === 'closed') return reply(sayings.closed())
  const atWork = [threadRun, headRun].find(
    (run) => run !== undefined && isLive(run.state) && run.head === head && run.kind === 'full',
  )
  // The head is the cause, so that whoever asks for it, and however often, meets in one run (D5, D7). With a focus it is
  // another review, and the comment is its cause.
  const cause = focus === undefined ? causeOf.head(head, pullRequest.base.ref) : command.cause
  const request = runRequestOf({
    repository,
    number,
    cause,
    kind: 'full',
    head,
    baseRef: pullRequest.base.ref,
    opensSeries: false,
    eventAt: command.eventAt,
    askedBy: 'person',
    ...(focus === undefined ? {} : { focus }),
  })
  return { kind: 'review', request, ...(atWork ? { joins: atWork } : {}) }
}

/** Only a run that was asked for before the command: one that is done late must not end what came after it. */
function cancel(facts: CommandFacts): Decision {
  const meant = meantFirst(facts)
  const atWork = meant.filter(({ state }) => isLive(state))
  const run = atWork.find(({ acceptedAt }) => acceptedAt <= facts.command.acceptedAt)
  if (run) return { kind: 'cancel', run }
  return reply(atWork[0] ? sayings.laterRun(atWork[0]) : sayings.nothingAtWork(meant[0]))
}

/**
 * Of this head: the last full review if it isn't complete, for it reads the description too; else the run that people mean,
 * which may be the one of an edited description that failed.
 */
function retry(facts: CommandFacts): Decision {
  const { head } = facts.pullRequest
  const meant = meantFirst(facts)
  if (meant[0]?.head !== head.sha && isBehind(facts)) return { kind: 'wait' }
  const ofHead = meant.filter((run) => run.head === head.sha)
  const full = ofHead.find((run) => run.kind === 'full')
  const run = full && isWorthAnotherAttempt(full) ? full : ofHead[0]
  return run ? { kind: 'retry', run } : reply(sayings.nothingToRetry(head.sha))
}

/** True while GitHub shows the pull request as it was before the comment; for a bounded time. */
function isBehind({ command, pullRequest, now }: CommandFacts): boolean {
  return pullRequest.updatedAt < command.eventAt && now - command.acceptedAt < HEAD_VISIBLE_WITHIN_MS
}

/**
 * The runs that are known, those that people mean first: one at work, then one of the head that GitHub shows, then the one
 * that was asked for last. One that was superseded gives way to the one that took its place, however late it was asked for.
 */
function meantFirst({ threadRun, headRun, pullRequest }: CommandFacts): Run[] {
  const rank = (run: Run) =>
    (isLive(run.state) ? 4 : 0) + (run.head === pullRequest.head.sha ? 2 : 0) + (run.outcome === 'superseded' ? 0 : 1)
  return [threadRun, headRun]
    .filter((run) => run !== undefined)
    .toSorted((a, b) => rank(b) - rank(a) || b.acceptedAt - a.acceptedAt)
}

function reply(text: string): Decision {
  return { kind: 'reply', text }
}
