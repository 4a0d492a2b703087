/**
 * Brings the stand-in's pull request to the requested state, as people do on GitHub: open, push, retarget, edit,
 * reopen. Each case ends with exactly one event for Muster.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { GitHubStandIn } from '../infra/local/github/github.ts'
import { causeOf } from '../shared/runs/run-identity.ts'
import type { PullRequestChange, ReviewRequest } from './request.ts'

export interface PullRequestId {
  readonly repositoryId: number
  /** `owner/name` */
  readonly repository: string
  readonly number: number
}

export interface PreparedPullRequest extends PullRequestId {
  readonly change: PullRequestChange
  /** The cause of the run for this change; for `none`, of the earlier run. */
  readonly cause: string
}

/**
 * GitHub's times have seconds. Two events of one second have no order, so a reopening waits for the next second, ms.
 */
const SECOND_MS = 1_000

/** The newest pull request of these refs, or the id of the next pull request. */
export async function findPullRequest(
  github: GitHubStandIn,
  request: ReviewRequest,
): Promise<PullRequestId & { readonly isNew: boolean }> {
  const { owner, name } = request.repository
  const added = await github.addRepository({
    owner,
    name,
    gitDirectory: request.gitDirectory,
    defaultBranch: request.base.ref,
  })
  const repository = `${owner}/${name}`
  for (let number = added.lastNumber; number > 0; number -= 1) {
    const pull = github.pullRequest(repository, number)
    if (pull.base.ref === request.base.ref && pull.head.ref === request.head.ref) {
      return { repositoryId: added.id, repository, number, isNew: false }
    }
  }
  return { repositoryId: added.id, repository, number: added.lastNumber + 1, isNew: true }
}

/** Opens a new pull request. */
export async function openPullRequest(
  github: GitHubStandIn,
  pullRequest: PullRequestId,
  request: ReviewRequest,
): Promise<PreparedPullRequest> {
  const { base, head, title, body, author } = request
  const number = await github.openPullRequest({
    repository: pullRequest.repository,
    base: base.ref,
    baseSha: base.sha,
    head: head.ref,
    headSha: head.sha,
    title,
    body,
    author: { login: author, type: 'User' },
  })
  return { ...pullRequest, number, change: 'opened', cause: causeOf.head(head.sha, base.ref) }
}

/** Changes an existing pull request where it differs from the request; `none` without a difference. */
export async function updatePullRequest(
  github: GitHubStandIn,
  pullRequest: PullRequestId,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<PreparedPullRequest> {
  const { repository, number } = pullRequest
  const { base, head, title, body, thread } = request
  const pull = github.pullRequest(repository, number)
  const isPushed = pull.head.sha !== head.sha
  const isRetargeted = pull.base.sha !== base.sha
  const isEdited = pull.title !== title || pull.body !== body
  const prepared = (change: PullRequestChange, cause = causeOf.head(head.sha, base.ref)) => ({
    ...pullRequest,
    change,
    cause,
  })

  if (!isPushed && !isRetargeted) {
    if (pull.state === 'closed') {
      await github.reopenPullRequest(repository, number, head.sha, { title, body })
      return prepared('asked_again')
    }
    if (!isEdited) return prepared('none')
    await github.edit(repository, number, { title, body })
    return prepared('edited', causeOf.text(title, body ?? ''))
  }
  if (!thread || pull.state === 'closed') {
    if (isPushed) await reopenAt(github, pullRequest, request, signal)
    // GitHub sends no event when a base branch moves; a new name of the base asks for a review of the same head.
    else await github.edit(repository, number, { title, body, base })
  } else if (isPushed && !isRetargeted && !isEdited) {
    await github.pushHead(repository, number, head.sha)
  } else {
    // Muster ignores events of a draft, so several changes at once ask for one review, in the same series.
    await github.setDraft(repository, number)
    await github.edit(repository, number, { title, body, base })
    await github.pushHead(repository, number, head.sha)
    await github.markReady(repository, number)
  }
  return prepared(isPushed ? 'pushed' : 'retargeted')
}

/** Makes Muster look at the same head once more, by the only event that begins no series and needs no change. */
export async function askAgain(github: GitHubStandIn, { repository, number }: PullRequestId): Promise<void> {
  await github.setDraft(repository, number)
  await github.markReady(repository, number)
}

/** A new head that begins a series: the pull request is closed at the old head and reopened at the new head. */
async function reopenAt(
  github: GitHubStandIn,
  { repository, number }: PullRequestId,
  { base, head, title, body }: ReviewRequest,
  signal: AbortSignal,
): Promise<void> {
  await github.closePullRequest(repository, number)
  const closedAt = github.pullRequest(repository, number).updatedAt
  const wait = (Math.floor(closedAt / SECOND_MS) + 1) * SECOND_MS - Date.now()
  if (wait > 0) await sleep(wait, undefined, { signal })
  await github.reopenPullRequest(repository, number, head.sha, { title, body, base })
}
