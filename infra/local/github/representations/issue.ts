/** The issue behind every pull request, and comments on it, as webhooks send them. */
import type { components } from '@octokit/openapi-webhooks-types'
import type { InstalledApp } from '../authentication.ts'
import { nodeId } from '../identity.ts'
import type { IssueComment, PullRequest, Repository } from '../records.ts'
import { iso, isoOrNull } from '../time.ts'
import { associationOf, userJson } from './account.ts'
import { issueCommentJson, issueUrl, labelJson, pullHtmlUrl, pullUrl } from './pull.ts'
import { repositoryUrl } from './repository.ts'

type CommentEvent = components['schemas']['webhook-issue-comment-created']

export function issueJson(url: string, repository: Repository, pull: PullRequest, commentCount: number) {
  const api = issueUrl(url, repository, pull.number)
  const html = pullHtmlUrl(url, repository, pull.number)
  return {
    url: api,
    repository_url: repositoryUrl(url, repository),
    labels_url: `${api}/labels{/name}`,
    comments_url: `${api}/comments`,
    events_url: `${api}/events`,
    timeline_url: `${api}/timeline`,
    html_url: html,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    number: pull.number,
    title: pull.title,
    user: userJson(url, pull.author),
    labels: pull.labels.map((name) => labelJson(url, repository, name)),
    state: pull.state,
    state_reason: null,
    locked: false,
    active_lock_reason: null,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: commentCount,
    created_at: iso(pull.createdAt),
    updated_at: iso(pull.updatedAt),
    closed_at: isoOrNull(pull.closedAt),
    author_association: associationOf(repository, pull.author, pull),
    draft: pull.draft,
    pull_request: {
      url: pullUrl(url, repository, pull.number),
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: isoOrNull(pull.mergedAt),
    },
    body: pull.body,
    reactions: noReactions(`${api}/reactions`),
    performed_via_github_app: null,
  } satisfies CommentEvent['issue']
}

/** Written by a person: GitHub's webhooks about an App's own comments have no reader here. */
export function issueCommentEventJson(
  url: string,
  app: InstalledApp,
  repository: Repository,
  comment: IssueComment,
): CommentEvent['comment'] {
  const shape = issueCommentJson(url, app, repository, comment)
  return { ...shape, performed_via_github_app: null, reactions: noReactions(`${shape.url}/reactions`) }
}

function noReactions(url: string): CommentEvent['comment']['reactions'] {
  const none = { '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 }
  return { url, total_count: 0, ...none }
}
