/** Reviews a head on a stack in this process: bring the pull request there, follow the run, read what stands. */
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

/** A webhook is answered within 10 s; after this, ms, a run that isn't there is looked for among the deliveries. */
const ACCEPTED_WITHIN_MS = 12_000
/** A delivery that failed is handed over again this often: GitHub doesn't do it by itself, people do. */
const REDELIVERIES_MAX = 3
/** So much of an answer fits into a line, characters. */
const ANSWER_SHOWN_MAX = 200

type StandInStack = Pick<LocalStack, 'apiUrl'> & { readonly github: NonNullable<LocalStack['github']> }

/**
 * A reviewer on that stack. Several may be asked for at once; changes to pull requests are made one after the other, so
 * that two calls for the same refs meet in one pull request. `model` is what the stack's model lenses use.
 */
export function reviewerOn(stack: StandInStack, model: string | undefined): Reviewer {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => undefined) // its caller is told; the next one isn't concerned
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
  /** The run of that cause before it was asked for now. */
  readonly before?: RunView | undefined
  /** The run whose conclusion the summary showed by then, if that is of this head. */
  readonly shown?: RunView | undefined
  /** True if nothing needs to happen: what is shown is what is asked for. */
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

  // Read before anything is changed: afterwards it can't be told which attempt answers to the change.
  const known = new Map<string, RunView | undefined>()
  for (const cause of causesOf(request)) {
    known.set(cause, await readRun(apiUrl, runIdOf(pullRequest.repositoryId, pullRequest.number, cause), signal))
  }
  const shown = await shownRun(stack, pullRequest, request.head.sha, signal)
  const prepared = await updatePullRequest(github, pullRequest, request, signal)
  const before = known.get(prepared.cause)
  if (prepared.change !== 'none') return { prepared, before, shown, isStored: false }
  // It goes on from an earlier call.
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

/** The run whose conclusion the summary shows, if that is of this head. */
async function shownRun(stack: StandInStack, pullRequest: PullRequestId, head: string, signal: AbortSignal) {
  const runId = concludedRun(stack.github.pullRequest(pullRequest.repository, pullRequest.number))
  const view = runId === undefined ? undefined : await readRun(stack.apiUrl, runId, signal)
  return view?.conclusion?.head === head ? view : undefined
}

/** True where Muster might say something else today: it decides, this only saves asking when it can't. */
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

/** Hands a failed delivery over again. One that is still under way is left alone. */
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
