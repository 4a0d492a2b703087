/** Reviews and the comments on lines, as GitHub's API writes them. */
import { nodeId } from '../identity.ts'
import type { PullRequest, Repository, Review, ReviewComment } from '../records.ts'
import { iso } from '../time.ts'
import { associationOf, type Schemas, userJson } from './account.ts'
import { pullHtmlUrl, pullUrl } from './pull.ts'
import { repositoryUrl } from './repository.ts'

export function reviewJson(url: string, repository: Repository, pull: PullRequest, review: Review) {
  const html = `${pullHtmlUrl(url, repository, pull.number)}#pullrequestreview-${review.id}`
  const pullRequest = pullUrl(url, repository, pull.number)
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: userJson(url, review.author),
    body: review.body,
    state: review.state,
    html_url: html,
    pull_request_url: pullRequest,
    author_association: associationOf(repository, review.author, pull),
    _links: { html: { href: html }, pull_request: { href: pullRequest } },
    ...(review.submittedAt === null ? {} : { submitted_at: iso(review.submittedAt) }),
    commit_id: review.commitId,
  } satisfies Schemas['pull-request-review']
}

/** A comment on an older head is outdated: GitHub then keeps only its original position. */
function lineFieldsOf(pull: PullRequest, comment: ReviewComment) {
  const outdated = comment.commitId !== pull.head.sha
  return {
    path: comment.path,
    commit_id: comment.commitId,
    original_commit_id: comment.commitId,
    diff_hunk: comment.diffHunk,
    side: comment.side,
    start_side: comment.startSide,
    position: outdated ? null : comment.position,
    original_position: comment.position,
    line: outdated ? null : comment.line,
    original_line: comment.line,
    start_line: outdated ? null : comment.startLine,
    original_start_line: comment.startLine,
    subject_type: 'line' as const,
  }
}

export function reviewCommentJson(url: string, repository: Repository, pull: PullRequest, comment: ReviewComment) {
  const self = `${repositoryUrl(url, repository)}/pulls/comments/${comment.id}`
  const html = `${pullHtmlUrl(url, repository, pull.number)}#discussion_r${comment.id}`
  const pullRequest = pullUrl(url, repository, pull.number)
  return {
    url: self,
    id: comment.id,
    node_id: nodeId('PullRequestReviewComment', comment.id),
    pull_request_review_id: comment.reviewId,
    ...lineFieldsOf(pull, comment),
    user: userJson(url, comment.author),
    author_association: associationOf(repository, comment.author, pull),
    body: comment.body,
    created_at: iso(comment.createdAt),
    updated_at: iso(comment.updatedAt),
    html_url: html,
    pull_request_url: pullRequest,
    _links: { self: { href: self }, html: { href: html }, pull_request: { href: pullRequest } },
  } satisfies Answered<Schemas['pull-request-review-comment']>
}

/** GitHub's description has `line?: number`, and its answers hold null for an outdated comment. */
type Answered<T> = {
  [K in keyof T]: K extends 'line' | 'position' ? T[K] | null : T[K]
}
