/** Plan: claim the pull request for this run, read it, and store what is to be read by whom. Once per attempt. */
import { randomUUID } from 'node:crypto'
import { environment, optionalEnvironment, timings } from '../../shared/aws/environment.ts'
import { openExecutions, stateMachineArnOf } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { nudge, openQueue } from '../../shared/aws/queue.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { inProgressCheckRun } from '../../shared/check-run.ts'
import { inputOf, type PlanAnswer, planInput } from '../../shared/contract.ts'
import { type EndingParts, finishEnding } from '../../shared/coordinator/ending.ts'
import { getDocument, openDocuments, putDocument } from '../../shared/documents/documents.ts'
import { isFailure, Refused, Retry } from '../../shared/errors.ts'
import { openApp } from '../../shared/github/app.ts'
import type { GitHub, PullRequest } from '../../shared/github/github.ts'
import { readFleet } from '../../shared/ledger/fleet.ts'
import { raiseResource } from '../../shared/ledger/resource.ts'
import { beginEnding, readRun, updateRun } from '../../shared/ledger/run.ts'
import { contended, openLedger } from '../../shared/ledger/table.ts'
import { readThread, writeClaim } from '../../shared/ledger/thread.ts'
import { CONTRACT, PLAN_REVIEWS_MAX } from '../../shared/limits.ts'
import { isShownAgain, type Plan } from '../../shared/plan.ts'
import { reviewIdOf } from '../../shared/review.ts'
import { isLive, type Reason, type Run, type RunOutcome } from '../../shared/run.ts'
import { effectiveOf } from '../../shared/schedule.ts'
import type { LabelResource } from '../../shared/shown.ts'
import { claim, type Thread } from '../../shared/thread.ts'
import { gather, withTexts } from './gather.ts'
import { headSeen } from './head.ts'
import { makePlan } from './plan.ts'

const log = openLog('plan')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const executions = openExecutions()
const documents = openDocuments(environment('DOCUMENTS_BUCKET'))
const outbox = openQueue(environment('OUTBOX_URL'))
const openInstallation = openApp(openSecret(environment('GITHUB_APP_SECRET_ID')), environment('GITHUB_API_URL'))
const modelUrl = optionalEnvironment('MODEL_BASE_URL')
const deploymentModel = modelUrl ? { baseUrl: modelUrl, model: optionalEnvironment('MODEL_DEFAULT') } : undefined

/** Throws `retry` while GitHub doesn't show the head yet, or can't be read: the machine asks again. */
export async function handler(input: unknown): Promise<PlanAnswer> {
  const { runId, attempt, execution } = inputOf(planInput, input)
  const run = await readRun(ledger, runId)
  if (!run) throw new Refused('unknown_run', 'There is no such run.', 'Deliver the webhook again.')
  if (run.attempt !== attempt || run.state === 'ended' || run.state === 'ending') return ended('superseded')
  if (run.state === 'held') return ended('held')
  if (run.plan) {
    const plan = await getDocument<Plan>(documents, run.plan)
    return answerOf(plan, run, isShownAgain(run, plan) ? 'shown' : 'replay')
  }

  const stateMachineArn = stateMachineArnOf(execution)
  const github = await openInstallation(run.repository.installationId, Date.now())
  try {
    const claimed = await claimPullRequest(run, github)
    if (claimed.kind !== 'claimed') return await end(run, claimed, stateMachineArn)
    if (claimed.ends) await finishEnding(endingParts(stateMachineArn), claimed.ends)
    return await plan(claimed.run, claimed.thread, claimed.pullRequest, github)
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    const reason = { code: error.code, sentence: `${error.message} ${error.remedy}` }
    return end(run, { kind: 'end', outcome: 'failed', reason }, stateMachineArn)
  }
}

type Claimed =
  | {
      readonly kind: 'claimed'
      readonly run: Run
      readonly thread: Thread
      readonly pullRequest: PullRequest
      readonly ends: string | undefined
    }
  | { readonly kind: 'hold'; readonly reason: Reason }
  | { readonly kind: 'end'; readonly outcome: RunOutcome; readonly reason: Reason }

/** In this order: the thread's version, then GitHub, then the transaction on that version (DESIGN §4: claim). */
async function claimPullRequest(run: Run, github: GitHub): Promise<Claimed> {
  return contended<Claimed>(async () => {
    const now = Date.now()
    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')

    const pullRequest = await github.pullRequest(run.repository, run.number)
    const seen = headSeen({ ...pullRequest, head: pullRequest.head }, current, now)
    if (seen.kind === 'wait')
      throw new Retry('head_not_visible', `GitHub doesn't show ${run.head.slice(0, 7)} yet.`, 5_000)
    if (seen.kind === 'superseded') return overtaken(`the head ${seen.by.slice(0, 7)}`)
    if (seen.kind === 'closed') {
      return {
        kind: 'end',
        outcome: 'closed',
        reason: { code: 'pull_request_closed', sentence: 'The pull request is closed.' },
      }
    }
    if (seen.kind === 'failed') {
      return {
        kind: 'end',
        outcome: 'failed',
        reason: { code: 'head_not_visible', sentence: 'GitHub did not show this head in time.' },
      }
    }
    const before = decision.ends === undefined ? undefined : await readRun(ledger, decision.ends)
    // An edited description doesn't cut short the review of the head: it waits until that is shown.
    if (run.kind === 'analyzers' && before && before.head === run.head && isLive(before.state)) {
      return { kind: 'hold', reason: { code: 'attempt_waits', sentence: 'It waits for the review of this head.' } }
    }
    const ends = before && isLive(before.state) ? before : undefined
    const moved = await writeClaim(ledger, {
      thread,
      next: decision.thread,
      entry: decision.entry,
      run: current,
      ends,
      now,
    })
    if (moved === 'again') return 'again'
    if (moved === 'halted')
      return { kind: 'hold', reason: { code: 'halted', sentence: 'A halt stands for this repository.' } }
    const version = (thread?.version ?? 0) + 1
    return {
      kind: 'claimed',
      run: { ...current, state: 'running', version: current.version + 1 },
      thread: { ...decision.thread, version },
      pullRequest,
      ends: before && before.state !== 'ended' ? before.runId : undefined,
    }
  })
}

async function plan(run: Run, thread: Thread, pullRequest: PullRequest, github: GitHub): Promise<PlanAnswer> {
  const from = { github, documents }
  const facts = await gather(from, { run, thread, pullRequest, deploymentModel, now: Date.now() })
  const made = makePlan(facts)
  const shown = isShownAgain(run, made)
  const stored = shown ? made : await withTexts(from, made)
  const digest = await putDocument(documents, stored)
  const planned = await updateRun(ledger, run, { plan: digest, planKey: made.planKey }, { now: Date.now() })
  if (!planned) {
    // Someone wrote the run meanwhile: a plan that was called twice, or an ending. What stands there decides.
    throw new Retry('claim_contended', 'The run changed while it was planned.', 1_000)
  }
  if (!shown) await showInProgress(planned, stored)
  log.info('Planned', {
    runId: run.runId,
    attempt: run.attempt,
    outcome: shown ? 'shown' : made.kind,
    count: made.reviews.length,
  })
  return answerOf(stored, planned, shown ? 'shown' : 'planned')
}

async function answerOf(plan: Plan, run: Run, outcome: PlanAnswer['outcome']): Promise<PlanAnswer> {
  const { effective } = effectiveOf((await readFleet(ledger)).limits)
  const name = { runId: run.runId, planKey: plan.planKey }
  return {
    outcome,
    ceiling: Math.max(1, Math.min(effective, PLAN_REVIEWS_MAX)),
    reviews: plan.reviews.map(({ lens, part }) => reviewIdOf({ ...name, lens, part })),
    adjudication: reviewIdOf({ ...name, lens: 'adjudication', part: 0 }),
  }
}

/** The check run is in progress and the label says so, from now until there is a verdict (PR1). */
async function showInProgress(run: Run, plan: Plan): Promise<void> {
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  const label: LabelResource = { kind: 'label', label: 'muster: checking' }
  const checkRun = inProgressCheckRun(run, [...new Set(plan.reviews.map(({ lens }) => lens))])
  const wanted = [
    { kind: 'check_run', key: run.head, document: await putDocument(documents, checkRun) },
    { kind: 'label', key: 'main', document: await putDocument(documents, label) },
  ]
  for (const resource of wanted) {
    await raiseResource(ledger, {
      ...pullRequest,
      ...resource,
      runId: run.runId,
      now: Date.now(),
    })
  }
  await nudge(outbox, { contract: CONTRACT, ...pullRequest, runId: run.runId }, randomUUID())
}

async function end(run: Run, why: Exclude<Claimed, { kind: 'claimed' }>, stateMachineArn: string): Promise<PlanAnswer> {
  log.info('Not planned', { runId: run.runId, attempt: run.attempt, outcome: why.kind, code: why.reason.code })
  if (why.kind === 'hold') {
    const current = await readRun(ledger, run.runId)
    // Another attempt, or an ending, may have come meanwhile: neither is held by what this one met.
    if (current?.attempt !== run.attempt || !isLive(current.state)) return ended('superseded')
    await updateRun(ledger, current, { state: 'held', reason: why.reason }, { now: Date.now() })
    return ended('held')
  }
  if (await beginEnding(ledger, run, { outcome: why.outcome, reason: why.reason, now: Date.now() })) {
    // Its own execution goes on to its end by this answer.
    await finishEnding({ ...endingParts(stateMachineArn), keepExecution: true }, run.runId)
  }
  return ended(why.outcome === 'failed' ? 'failed' : 'superseded')
}

function overtaken(by: string): Claimed {
  return { kind: 'end', outcome: 'superseded', reason: { code: 'head_superseded', sentence: `Overtaken by ${by}.` } }
}

function ended(outcome: PlanAnswer['outcome']): PlanAnswer {
  return { outcome, ceiling: 1, reviews: [], adjudication: '' }
}

function endingParts(stateMachineArn: string): EndingParts {
  return { ledger, executions, documents, outbox, stateMachineArn, now: Date.now, nonce: randomUUID }
}
