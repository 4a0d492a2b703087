/**
 * The record of accepted writes at the simulated GitHub, in order, each with the pull request's true state at that
 * moment. Invariants prove from the record that Muster posted nothing wrong.
 */
import type { Answer, Call, Layer } from '../../../../infra/local/github/http.ts'
import { newContent } from '../../../../infra/local/github/limits.ts'

/** The kind of a write, by its route. */
const KINDS = {
  'POST /pulls/:number/reviews': 'review_created',
  'PUT /pulls/:number/reviews/:id': 'review_changed',
  'DELETE /pulls/:number/reviews/:id': 'review_deleted',
  'POST /pulls/:number/reviews/:id/events': 'review_submitted',
  'PUT /pulls/:number/reviews/:id/dismissals': 'review_dismissed',
  'POST /pulls/:number/comments/:id/replies': 'reply_created',
  'POST /issues/:number/comments': 'comment_created',
  'PATCH /issues/comments/:id': 'comment_changed',
  'DELETE /issues/comments/:id': 'comment_deleted',
  'POST /check-runs': 'check_run_created',
  'PATCH /check-runs/:id': 'check_run_changed',
  'POST /issues/:number/labels': 'label_added',
  'PUT /issues/:number/labels': 'labels_set',
  'DELETE /issues/:number/labels': 'labels_removed',
  'DELETE /issues/:number/labels/:name': 'label_removed',
} as const

export type WriteKind = (typeof KINDS)[keyof typeof KINDS]

export interface AcceptedWrite {
  readonly kind: WriteKind
  /** ms UTC of the simulated world. */
  readonly at: number
  /** `owner/name`. */
  readonly repository: string
  /** Undefined for check runs, which belong to a commit. */
  readonly number: number | undefined
  /** The id of the review, comment or check run. */
  readonly id: number | undefined
  /** The commit of a review or check run. */
  readonly head: string | undefined
  /**
   * The pull request's true state at the time of the write, independent of any earlier read; undefined for check runs.
   */
  readonly pull: { readonly head: string; readonly state: 'open' | 'closed' } | undefined
  /** The sent body, unchanged. */
  readonly sent: Readonly<Record<string, unknown>>
  /** True if GitHub counts the write as new content. */
  readonly content: boolean
}

/** Finds the pull request of a comment or with a number. */
export type FindPull = (
  repository: string,
  by: { number: number } | { commentId: number },
) => { number: number; head: { sha: string }; state: 'open' | 'closed' } | undefined

export function recordWrites(findPull: FindPull, now: () => number): { layer: Layer; writes: AcceptedWrite[] } {
  const writes: AcceptedWrite[] = []
  return {
    writes,
    async layer(call, next) {
      const kind = KINDS[`${call.method} ${call.route?.replace('/repos/:owner/:repo', '')}` as keyof typeof KINDS]
      if (kind === undefined) return next(call)
      const { owner, repo, number, id } = call.params
      const repository = `${owner}/${repo}`
      const comment = { commentId: Number(id) }
      const by = number === undefined ? comment : { number: Number(number) }
      const pull = kind.startsWith('check_run') ? undefined : findPull(repository, by)
      const answer = await next(call)
      if (answer.status < 300) writes.push({ kind, at: now(), repository, ...factsOf(call, answer, pull) })
      return answer
    },
  }
}

function factsOf(call: Call, answer: Answer, pull: ReturnType<FindPull>) {
  const said = (Array.isArray(answer.json) ? {} : (answer.json ?? {})) as {
    id?: number
    commit_id?: string
    head_sha?: string
  }
  const id = said.id ?? (call.params.id === undefined ? undefined : Number(call.params.id))
  return {
    number: pull?.number,
    id,
    head: said.commit_id ?? said.head_sha,
    pull: pull && { head: pull.head.sha, state: pull.state },
    sent: (call.body.length === 0 ? {} : JSON.parse(call.body.toString('utf8'))) as Record<string, unknown>,
    content: newContent(call),
  }
}
