/** Reviews a head on a stack in this process: prepares the pull request, follows the run, reads the result. */
import type { LocalStack } from '../infra/local/stack.ts'
import { causeOf, runIdOf } from '../shared/runs/run-identity.ts'
import { followRun, readRun } from './api-client.ts'
import { CommandFailure } from './errors.ts'
import {
  askAgain,
  findPullRequest,
  openPullRequest,
  type PreparedPullRequest,
  type PullRequestId,
  updatePullRequest,
} from './pull-request.ts'
import type { Progress, Reviewer, ReviewOutcome, ReviewRequest } from './request.ts'
import { lensesOf, type RunView } from './run-view.ts'
import { concludedRun, summaryMarkdown } from './summary.ts'

/** A webhook is answered within 10 s; after this time, ms, the delivery of a missing run is checked. */
const ACCEPTED_WITHIN_MS = 12_000
/** The most redeliveries of a failed delivery: GitHub never redelivers by itself, but people do. */
const REDELIVERIES_MAX = 3
/** Characters of an answer that fit into a line. */
const ANSWER_SHOWN_MAX = 200

type StandInStack = Pick<LocalStack, 'apiUrl'> & { readonly github: NonNullable<LocalStack['github']> }

/**
 * A reviewer on that stack, for several concurrent calls. Changes to pull requests happen one after the other, so that
 * two calls for the same refs meet in one pull request. `model` is the model of the stack's model lenses.
 */
export function reviewerOn(stack: StandInStack, model: string | undefined): Reviewer {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => undefined) // the caller gets the error; the next call isn't concerned
    return result
  }
  return async (request, onProgress, signal) => {
    const { prepared, before, shown, isStored } = await inTurn(() => prepare(stack, model, request, signal))
    onProgress({ kind: 'pull_request', name: nameOf(prepared), url: pageOf(stack, prepared), change: prepared.change })
    if (isStored && shown) return outcomeOf(stack, prepared, shown, true)
    const view = await follow(stack, prepared, before, onProgress, signal)
    const isKnown = [before, shown].some((known) => known?.conclusion?.planKey === view.conclusion?.planKey)
    return outcomeOf(stack, prepared, view, isKnown)
  }
}

interface Preparation {
  readonly prepared: PreparedPullRequest
  /** The run of that cause before this call. */
  readonly before?: RunView | undefined
  /** The run whose conclusion the summary showed before this call, if of this head. */
  readonly shown?: RunView | undefined
  /** True if the shown review already answers the request. */
  readonly isStored: boolean
}

async function prepare(
  stack: StandInStack,
  model: string | undefined,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<Preparation> {
  const { apiUrl, github } = stack
  const pullRequest = await findPullRequest(github, request)
  if (pullRequest.isNew) return { prepared: await openPullRequest(github, pullRequest, request), isStored: false }

  // Read before any change: afterwards no one could tell which attempt answers to the change.
  const known = new Map<string, RunView | undefined>()
  for (const cause of causesOf(request)) {
    known.set(cause, await readRun(apiUrl, runIdOf(pullRequest.repositoryId, pullRequest.number, cause), signal))
  }
  const shown = await shownRun(stack, pullRequest, request.head.sha, signal)
  const prepared = await updatePullRequest(github, pullRequest, request, signal)
  const before = known.get(prepared.cause)
  if (prepared.change !== 'none') return { prepared, before, shown, isStored: false }
  // The run of an earlier call goes on.
  if (before && before.state !== 'ended') return { prepared, before, shown, isStored: false }
  if (shown?.conclusion && !request.askAgain && !mayBeOther(shown.conclusion, model)) {
    return { prepared, before, shown, isStored: true }
  }
  await askAgain(github, pullRequest)
  return { prepared: { ...prepared, change: 'asked_again' }, before, shown, isStored: false }
}

function causesOf({ head, base, title, body }: ReviewRequest): string[] {
  return [causeOf.head(head.sha, base.ref), causeOf.text(title, body ?? '')]
}

/** The run whose conclusion the summary shows, if of this head. */
async function shownRun(stack: StandInStack, pullRequest: PullRequestId, head: string, signal: AbortSignal) {
  const runId = concludedRun(stack.github.pullRequest(pullRequest.repository, pullRequest.number))
  const view = runId === undefined ? undefined : await readRun(stack.apiUrl, runId, signal)
  return view?.conclusion?.head === head ? view : undefined
}

/** True where Muster might conclude otherwise today. Muster decides; this check only saves hopeless calls. */
function mayBeOther({ verdict, lenses }: NonNullable<RunView['conclusion']>, model: string | undefined): boolean {
  return verdict === 'incomplete' || lenses.some((lens) => lens.model !== undefined && lens.model !== model)
}

async function follow(
  stack: StandInStack,
  prepared: PreparedPullRequest,
  before: RunView | undefined,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<RunView> {
  const runId = runIdOf(prepared.repositoryId, prepared.number, prepared.cause)
  const attemptMin = before === undefined ? 1 : before.state === 'ended' ? before.attempt + 1 : before.attempt
  let redeliveries = 0
  let expectedBy = Date.now() + ACCEPTED_WITHIN_MS
  const view = await followRun(
    stack.apiUrl,
    runId,
    async (seen) => {
      if (seen && seen.attempt >= attemptMin) {
        const { attempt, state, reason } = seen
        onProgress({ kind: 'run', attempt, state, ...(reason ? { reason } : {}), lenses: lensesOf(seen.reviews) })
        return state === 'ended'
      }
      if (Date.now() < expectedBy) return false
      expectedBy = Date.now() + ACCEPTED_WITHIN_MS
      redeliveries += 1
      await redeliver(stack, prepared, redeliveries)
      return false
    },
    signal,
  )
  if (!view) throw new Error(`Run ${runId} was followed to no end.`)
  if (view.outcome !== 'reviewed') throw notReviewed(view)
  return view
}

/** Redelivers a failed delivery. A delivery under way stays. */
async function redeliver(
  { github }: StandInStack,
  { repository, number }: PreparedPullRequest,
  tries: number,
): Promise<void> {
  const last = github.deliveries().findLast((each) => each.repository === repository && each.number === number)
  if (!last || last.result === null) return
  const { reason, responseBody } = last.result
  if (tries > REDELIVERIES_MAX) {
    throw new CommandFailure(
      'webhook_failed',
      `The webhook was not accepted: ${[reason, responseBody.slice(0, ANSWER_SHOWN_MAX)].join(' ').trim()}.`,
      'The details are in functions.log in the state folder.',
      'internal',
    )
  }
  await github.redeliver(last.guid)
}

function notReviewed({ outcome, reason }: RunView): CommandFailure {
  const sentence = reason ? reason.sentence : `The run ended: ${outcome ?? 'without an outcome'}.`
  const isOvertaken = outcome === 'superseded' || outcome === 'closed' || outcome === 'cancelled'
  return new CommandFailure(
    reason?.code ?? outcome ?? 'run_failed',
    sentence,
    isOvertaken ? 'A later call has overtaken this call: call again.' : 'Call again for another attempt.',
    isOvertaken ? 'unavailable' : 'internal',
  )
}

function outcomeOf(
  stack: StandInStack,
  prepared: PreparedPullRequest,
  view: RunView,
  alreadyReviewed: boolean,
): ReviewOutcome {
  if (!view.conclusion) throw new Error(`Run ${view.run} ended reviewed without a conclusion.`)
  const pull = stack.github.pullRequest(prepared.repository, prepared.number)
  return {
    alreadyReviewed,
    url: pageOf(stack, prepared),
    markdown: summaryMarkdown(pull),
    conclusion: view.conclusion,
  }
}

function nameOf({ repository, number }: PullRequestId): string {
  return `${repository}#${number}`
}

function pageOf({ github }: StandInStack, { repository, number }: PullRequestId): string {
  return `${github.url}/${repository}/pull/${number}`
}
