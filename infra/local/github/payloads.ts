/** The payloads of GitHub's webhooks: the events of pull requests and of their comments. */
import type { components } from '@octokit/openapi-webhooks-types'
import type { InstalledApp } from './authentication.ts'
import { installationId } from './identity.ts'
import type { Account, IssueComment, PullRequest, Repository } from './records.ts'
import { userJson } from './representations/account.ts'
import { issueCommentEventJson, issueJson } from './representations/issue.ts'
import { type PullCounts, pullJson } from './representations/pull.ts'
import { repositoryJson } from './representations/repository.ts'

type Schemas = components['schemas']
export type IssueCommentCreatedEvent = Schemas['webhook-issue-comment-created']
export type PullRequestEvent = Schemas[`webhook-pull-request-${
  | 'opened'
  | 'closed'
  | 'reopened'
  | 'converted-to-draft'
  | 'ready-for-review'
  | 'synchronize'
  | 'edited'}`]

export type PullRequestAction =
  | { action: 'opened' | 'closed' | 'reopened' | 'converted_to_draft' | 'ready_for_review' }
  | { action: 'synchronize'; before: string; after: string }
  | {
      action: 'edited'
      changes: {
        title?: { from: string }
        body?: { from: string }
        base?: { ref: { from: string }; sha: { from: string } }
      }
    }

/** The sender is always the pull request's author: no reader of these events uses another sender. */
export function pullRequestPayload(
  url: string,
  repository: Repository,
  pull: PullRequest,
  counts: PullCounts,
  event: PullRequestAction,
): PullRequestEvent {
  const payload = {
    ...event,
    number: pull.number,
    pull_request: pullJson(url, repository, pull, counts),
    ...around(url, repository, pull.author),
  }
  // The type of each action narrows some fields (an opened pull request is open); the record has the same values at run
  // time.
  return payload as PullRequestEvent
}

/**
 * A comment on a pull request is a comment on its issue: `issue.pull_request` marks the issue as a pull request. The
 * payload has no head.
 */
export function commentPayload(
  url: string,
  app: InstalledApp,
  repository: Repository,
  pull: PullRequest,
  comment: IssueComment,
  commentCount: number,
): IssueCommentCreatedEvent {
  return {
    action: 'created',
    issue: issueJson(url, repository, pull, commentCount),
    comment: issueCommentEventJson(url, app, repository, comment),
    ...around(url, repository, comment.author),
  }
}

function around(url: string, repository: Repository, sender: Account) {
  const id = installationId(repository.owner)
  return {
    repository: repositoryJson(url, repository),
    installation: { id, node_id: Buffer.from(`Integration:${id}`).toString('base64') },
    sender: userJson(url, sender),
  }
}
