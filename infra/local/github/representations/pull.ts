/** A pull request with its labels and comments, as GitHub's API writes them. */
import type { InstalledApp } from '../authentication.ts'
import { labelId, nodeId } from '../identity.ts'
import type { IssueComment, PullRequest, Repository } from '../records.ts'
import { iso, isoOrNull } from '../time.ts'
import { appJson, associationOf, type Schemas, userJson } from './account.ts'
import { htmlUrl, repositoryJson, repositoryUrl } from './repository.ts'

/** Numbers that each answer counts anew. */
export interface PullCounts {
  comments: number
  reviewComments: number
  commits: number
  additions: number
  deletions: number
  changedFiles: number
}

/** GitHub's colour for a label without a definition. */
const LABEL_COLOUR = 'ededed'

export function pullUrl(url: string, repository: Repository, number: number): string {
  return `${repositoryUrl(url, repository)}/pulls/${number}`
}

export function pullHtmlUrl(url: string, repository: Repository, number: number): string {
  return `${htmlUrl(url, repository)}/pull/${number}`
}

export function issueUrl(url: string, repository: Repository, number: number): string {
  return `${repositoryUrl(url, repository)}/issues/${number}`
}

export function labelJson(url: string, repository: Repository, name: string) {
  const id = labelId(repository.id, name)
  return {
    id,
    node_id: nodeId('Label', id),
    url: `${repositoryUrl(url, repository)}/labels/${encodeURIComponent(name)}`,
    name,
    description: '',
    color: LABEL_COLOUR,
    default: false,
  } satisfies Schemas['label']
}

/** The form of a single pull request, also in webhooks. */
export function pullJson(url: string, repository: Repository, pull: PullRequest, counts: PullCounts) {
  const merged = pull.mergedAt !== null
  const api = pullUrl(url, repository, pull.number)
  const html = pullHtmlUrl(url, repository, pull.number)
  const issue = issueUrl(url, repository, pull.number)
  const comments = `${issue}/comments`
  const reviewComments = `${api}/comments`
  const reviewComment = `${repositoryUrl(url, repository)}/pulls/comments{/number}`
  const commits = `${api}/commits`
  const statuses = `${repositoryUrl(url, repository)}/statuses/${pull.head.sha}`
  const branch = ({ ref, sha }: PullRequest['head']) => ({
    label: `${repository.owner}:${ref}`,
    ref,
    sha,
    user: userJson(url, { login: repository.owner, type: 'Organization' }),
    repo: repositoryJson(url, repository),
  })
  return {
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    number: pull.number,
    url: api,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    commits_url: commits,
    review_comments_url: reviewComments,
    review_comment_url: reviewComment,
    comments_url: comments,
    statuses_url: statuses,
    state: pull.state,
    locked: false,
    active_lock_reason: null,
    draft: pull.draft,
    title: pull.title,
    body: pull.body,
    user: userJson(url, pull.author),
    author_association: associationOf(repository, pull.author, pull),
    labels: pull.labels.map((name) => labelJson(url, repository, name)),
    milestone: null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    auto_merge: null,
    created_at: iso(pull.createdAt),
    updated_at: iso(pull.updatedAt),
    closed_at: isoOrNull(pull.closedAt),
    merged_at: isoOrNull(pull.mergedAt),
    merge_commit_sha: pull.mergedAt === null ? null : pull.head.sha,
    head: branch(pull.head),
    base: branch(pull.base),
    _links: {
      self: { href: api },
      html: { href: html },
      issue: { href: issue },
      comments: { href: comments },
      review_comments: { href: reviewComments },
      review_comment: { href: reviewComment },
      commits: { href: commits },
      statuses: { href: statuses },
    },
    merged,
    mergeable: merged ? null : true,
    rebaseable: null,
    mergeable_state: merged ? 'unknown' : 'clean',
    merged_by: null,
    comments: counts.comments,
    review_comments: counts.reviewComments,
    maintainer_can_modify: false,
    commits: counts.commits,
    additions: counts.additions,
    deletions: counts.deletions,
    changed_files: counts.changedFiles,
  } satisfies Schemas['pull-request']
}

export function issueCommentJson(url: string, app: InstalledApp, repository: Repository, comment: IssueComment) {
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url: `${repositoryUrl(url, repository)}/issues/comments/${comment.id}`,
    html_url: `${pullHtmlUrl(url, repository, comment.number)}#issuecomment-${comment.id}`,
    issue_url: issueUrl(url, repository, comment.number),
    user: userJson(url, comment.author),
    author_association: associationOf(repository, comment.author),
    body: comment.body,
    created_at: iso(comment.createdAt),
    updated_at: iso(comment.updatedAt),
    performed_via_github_app: comment.author.login === `${app.slug}[bot]` ? appJson(url, app) : null,
  } satisfies Schemas['issue-comment']
}
