/** Reviews and their comments: read, written pending, submitted, deleted. */
import type { InlineComment } from '../publishing/github-payloads.ts'
import { type Caller, inRepo } from './caller.ts'
import { unreachable } from './failures.ts'
import type { GitHub, Identity, Repo, ReviewSeen } from './github.ts'
import { readList } from './pages.ts'

type Reviews = Pick<
  GitHub,
  'reviews' | 'createPendingReview' | 'submitReview' | 'deletePendingReview' | 'reviewComments'
>

/** The review is gone, or in another state than expected. */
const LOOK_AGAIN = [404, 422] as const

export function reviewsOf(caller: Caller, identity: () => Promise<Identity>): Reviews {
  return {
    async reviews(repo, number) {
      const us = await identity()
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
      const { rows, cut } = await readList(caller, route, inPull(repo, number), { keep: 'newest' })
      return {
        cut,
        rows: rows.map((row) => ({
          id: Number(row.id),
          state: row.state as ReviewSeen['state'],
          body: row.body,
          author: row.user?.login ?? 'ghost',
          authorIsUs: Number(row.user?.id) === us.id,
          commitId: row.commit_id ?? '',
        })),
      }
    },

    async createPendingReview(repo, number, review) {
      const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
      const { commitId, body, comments } = review
      const parameters = { ...inPull(repo, number), commit_id: commitId, body, comments: comments.map(commentOf) }
      const answer = await caller.callExpecting(route, parameters, [422])
      if (answer.state === 'expected') return { state: 'refused', sentence: answer.sentence }
      if (answer.data?.id === undefined) throw unreachable({ route, writes: true }, 'its answer names no review')
      return { state: 'created', id: Number(answer.data.id) }
    },

    async submitReview(repo, number, id, event, body) {
      const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/events'
      const place = { ...inPull(repo, number), review_id: id }
      const parameters = { ...place, event, ...(body === undefined ? {} : { body }) }
      const answer = await caller.callExpecting(route, parameters, LOOK_AGAIN)
      if (answer.state === 'success') return 'submitted'
      return answer.status === 404 ? 'gone' : 'not_accepted'
    },

    async deletePendingReview(repo, number, id) {
      const route = 'DELETE /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}'
      const place = { ...inPull(repo, number), review_id: id }
      const answer = await caller.callExpecting(route, place, LOOK_AGAIN)
      if (answer.state === 'success') return 'deleted'
      return answer.status === 404 ? 'gone' : 'not_accepted'
    },

    async reviewComments(repo, number, reviewId) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments'
      const parameters = { ...inPull(repo, number), review_id: reviewId }
      const { rows, cut } = await readList(caller, route, parameters)
      return {
        cut,
        rows: rows.map(({ id, path, line, body }) => ({ id: Number(id), path, line, body })),
      }
    },
  }
}

function inPull(repo: Repo, number: number) {
  return { ...inRepo(repo), pull_number: number }
}

/** A comment on one line has no `start_line`: GitHub refuses a start equal to the line (A3, AW80). */
function commentOf(comment: InlineComment) {
  const { path, side, line, startLine, body } = comment
  const start = startLine === undefined || startLine >= line ? {} : { start_line: startLine, start_side: side }
  return { path, side, line, body, ...start }
}
