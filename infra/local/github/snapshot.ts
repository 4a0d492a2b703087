/** A pull request for tests and people: everything at once, pending reviews too. */
import {
  type CheckRun,
  commitKey,
  type IssueComment,
  type PullRequest,
  pullKey,
  type Repository,
  type Review,
  type ReviewComment,
} from './records.ts'
import type { Reader } from './store/access.ts'

export interface PullRequestSnapshot extends PullRequest {
  repository: string
  /** In the order of their creation; `pending` reviews are invisible to all but their author. */
  reviews: (Review & { pending: boolean; comments: ReviewComment[] })[]
  issueComments: IssueComment[]
  /** The check runs of every head of the pull request, by SHA, oldest head first. */
  checkRuns: { headSha: string; runs: CheckRun[] }[]
}

export function snapshotOf(reader: Reader, repository: Repository, pull: PullRequest): PullRequestSnapshot {
  const key = pullKey(repository.id, pull.number)
  const comments = reader.list('reviewComment', key)
  return {
    ...pull,
    repository: `${repository.owner}/${repository.name}`,
    reviews: reader.list('review', key).map((review) => ({
      ...review,
      pending: review.state === 'PENDING',
      comments: comments.filter((comment) => comment.reviewId === review.id),
    })),
    issueComments: reader.list('issueComment', key),
    checkRuns: [...new Set(pull.heads)].map((headSha) => ({
      headSha,
      runs: reader.list('checkRun', commitKey(repository.id, headSha)),
    })),
  }
}
