/** The judgement of a snapshot: unfinished work, which may still change, and broken promises. Pure. */
import type { PullRequestSnapshot } from '../../infra/local/github/snapshot.ts'
import { LABELS } from '../../shared/publishing/github-payloads.ts'
import type { LedgerItem, SystemSnapshot } from './snapshot.ts'

/** The work that must still happen before a judgement; empty at rest. */
export function unrestOf({ items, deliveries, executions, pullRequests }: SystemSnapshot): string[] {
  const slots = Object.keys((items.find(({ sk }) => sk === 'FLEET')?.slots as object | undefined) ?? {})
  return [
    ...deliveries
      .filter(({ ended, status }) => !ended || !isTaken(status))
      .map(({ action, number }) => `the webhook ${action} of #${number} is not taken`),
    // A halt would let a run be held; no halt stands here.
    ...items
      .filter(({ sk, state }) => sk === 'RUN' && state !== 'ended')
      .map((run) => `run ${shortOf(run)} is ${run.state}`),
    ...items.filter(({ sk, state }) => sk.startsWith('EVENT#') && state !== 'done').map(({ sk }) => `${sk} is open`),
    // A recheck is due at a known time; an item that stays due for ever shows as a system without rest.
    ...items.filter(({ dueAt }) => dueAt !== undefined).map(({ pk, sk }) => `something is due for ${pk} ${sk}`),
    ...slots.map((reviewId) => `a slot is held for ${reviewId.split('/').slice(2).join('/')}`),
    ...executions.map((name) => `execution ${name} runs`),
    ...pullRequests.flatMap(({ number, reviews }) =>
      reviews.filter(({ pending }) => pending).map(() => `a pending review stands on #${number}`),
    ),
  ]
}

/** Broken promises in a snapshot at rest, each as a sentence. */
export function violationsOf(snapshot: SystemSnapshot): string[] {
  const messages = snapshot.items.filter(({ sk }) => sk.startsWith('MESSAGE#'))
  return [
    ...unrestOf(snapshot).map((sentence) => `Not at rest: ${sentence}.`),
    ...snapshot.items.filter(({ sk }) => sk === 'RUN').flatMap(brokenRun),
    ...snapshot.pullRequests.flatMap((pullRequest) => [
      ...brokenReviews(pullRequest, messages),
      ...brokenResources(pullRequest),
      ...(isReviewable(pullRequest) ? missing(pullRequest, snapshot.items) : []),
    ]),
    ...messages
      .filter(({ state }) => state !== 'said' && state !== 'withdrawn')
      .map(({ state, number }) => `A message of #${number} is ${state}.`),
    // A marker without tickets is harmless: the next look removes the marker. A ticket would wait for ever.
    ...snapshot.items
      .filter(({ pk }) => pk.startsWith('QUEUE#'))
      .map(({ sk }) => `The ticket ${sk} is left in its queue.`),
  ]
}

/** A kill loses nothing here: no run fails, and none is incomplete because of a lens lost with its process. */
function brokenRun(run: LedgerItem): string[] {
  const reason = (run.reason as { code?: string } | undefined)?.code ?? 'no reason'
  if (run.outcome === 'failed') return [`Run ${shortOf(run)} failed (${reason}).`]
  return run.verdict === 'incomplete' ? [`Run ${shortOf(run)} is incomplete.`] : []
}

/** Each review is posted once: by its marker, by its head, and by the ledger. */
function brokenReviews(pullRequest: PullRequestSnapshot, messages: readonly LedgerItem[]): string[] {
  const { number } = pullRequest
  const reviews = pullRequest.reviews.filter(({ pending }) => !pending)
  const said = messages.filter((message) => message.number === number && message.state === 'said')
  const markerOf = ({ runId, planKey }: LedgerItem) => `review ${runId} ${planKey}`
  const comments = reviews.flatMap(({ commitId, comments }) =>
    comments.map(({ path, line, body }) => `${commitId} ${path}:${line} ${body}`),
  )
  return [
    ...said
      .map((message) => reviews.filter(({ body }) => body.includes(markerOf(message))).length)
      .filter((count) => count !== 1)
      .map((count) => `A review that is said stands ${count} times on #${number}.`),
    ...reviews
      .filter(({ body }) => !said.some((message) => body.includes(markerOf(message))))
      .map(({ commitId }) => `A review of ${commitId.slice(0, 7)} stands on #${number}, and no message says so.`),
    ...repeated(reviews.map(({ commitId }) => commitId)).map(
      (sha) => `${sha.slice(0, 7)} is reviewed more than once on #${number}.`,
    ),
    ...repeated(comments).map((comment) => `An inline comment stands twice on #${number}: ${comment.slice(0, 80)}`),
  ]
}

/** The resources with a single copy and none left in progress, on open and closed pull requests alike. */
function brokenResources({ number, checkRuns, issueComments, labels }: PullRequestSnapshot): string[] {
  const ours = labels.filter((label) => LABELS.some((known) => known === label))
  return [
    ...checkRuns.flatMap(({ headSha, runs }) => [
      ...runs
        .filter(({ status }) => status !== 'completed')
        .map(({ status }) => `The check run of ${headSha.slice(0, 7)} on #${number} is ${status}.`),
      ...(runs.length > 1 ? [`${headSha.slice(0, 7)} on #${number} has ${runs.length} check runs.`] : []),
    ]),
    ...(issueComments.length > 1 ? [`#${number} has ${issueComments.length} summary comments.`] : []),
    ...(ours.length > 1 ? [`#${number} has the labels ${ours.join(', ')}.`] : []),
  ]
}

/** The duties of the newest head of an open pull request. */
function missing(pullRequest: PullRequestSnapshot, items: readonly LedgerItem[]): string[] {
  const { number, head, checkRuns, issueComments, labels, reviews } = pullRequest
  const short = head.sha.slice(0, 7)
  const runs = items.filter((item) => item.sk === 'RUN' && item.number === number && item.head === head.sha)
  const conclusion = checkRuns.find(({ headSha }) => headSha === head.sha)?.runs[0]?.conclusion
  return [
    ...(runs.some(({ kind, outcome }) => kind === 'full' && outcome === 'reviewed')
      ? []
      : [`The head ${short} of #${number} has no run that reviewed it.`]),
    ...(reviews.some(({ commitId, pending }) => !pending && commitId === head.sha)
      ? []
      : [`The head ${short} of #${number} has no review.`]),
    ...(conclusion === undefined ? [`The head ${short} of #${number} has no check run.`] : []),
    ...(conclusion === 'cancelled' ? [`The check run of the reviewed head ${short} of #${number} is cancelled.`] : []),
    ...(issueComments.length === 0 ? [`#${number} has no summary comment.`] : []),
    ...(labels.some((label) => LABELS.some((known) => known === label)) ? [] : [`#${number} has no label.`]),
    // Only here: a pull request closed before its verdict has no other label than `muster: checking`.
    ...(labels.includes('muster: checking') ? [`#${number} is reviewed and still labelled as being checked.`] : []),
  ]
}

function isReviewable({ state, draft }: PullRequestSnapshot): boolean {
  return state === 'open' && !draft
}

function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

function repeated(all: readonly string[]): string[] {
  return [...new Set(all.filter((each, index) => all.indexOf(each) !== index))]
}

function shortOf({ pk, number }: LedgerItem): string {
  return `${pk.slice('RUN#'.length, 'RUN#'.length + 10)} of #${number}`
}
