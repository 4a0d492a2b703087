/** Comments on a pull request as a whole, by any author. */
import { type IssueComment, pullKey, type Repository } from './records.ts'
import type { Writer } from './store/access.ts'

const FIRST_ISSUE_COMMENT_ID = 3_500_000_001

/** Adds a comment; the comment updates its pull request. */
export function addIssueComment(
  writer: Writer,
  repository: Repository,
  comment: Omit<IssueComment, 'id'>,
): IssueComment {
  const added = { ...comment, id: writer.next('issueComment', FIRST_ISSUE_COMMENT_ID) }
  writer.put('issueComment', added.id, pullKey(repository.id, comment.number), added)
  touch(writer, repository, comment.number, comment.createdAt)
  return added
}

/** Marks a pull request as updated, as GitHub does after each comment or review. */
export function touch(writer: Writer, repository: Repository, number: number, nowMs: number): void {
  const key = pullKey(repository.id, number)
  const pull = writer.get('pull', key)
  if (pull !== undefined) writer.put('pull', key, repository.id, { ...pull, updatedAt: nowMs })
}
