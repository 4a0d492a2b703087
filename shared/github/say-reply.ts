/** Says a reply once: comments are read before the write, and the reply is read back by its marker and our author. */
import type { ReplyMessage } from '../publishing/github-payloads.ts'
import { notVisible, orUnanswered, orUnknown, type Stopped, type Unknown } from '../publishing/outcome.ts'
import { hasLine } from '../publishing/review-version.ts'
import type { CommentSeen, GitHub, Repo } from './github.ts'

export interface Replied {
  readonly state: 'said'
  readonly commentId: number
}

/**
 * Brings the reply onto the pull request once. Of several own copies, which unanswered calls may have left, the oldest
 * stays. `checks` is asked right before the creation. `onMade` gets the new comment's id, `knownId` brings it back.
 */
export async function sayReply(
  github: GitHub,
  place: { readonly repo: Repo; readonly number: number; readonly knownId?: number | undefined },
  reply: ReplyMessage,
  options: { readonly checks: () => Promise<'go' | 'stop'>; readonly onMade: (commentId: number) => Promise<void> },
): Promise<Replied | Stopped | Unknown> {
  const { repo, number, knownId } = place

  async function standing(id: number | undefined): Promise<number | undefined> {
    const isOurs = (comment: CommentSeen) => comment.authorIsUs && hasLine(comment.body, reply.marker)
    const byId = id === undefined ? undefined : await github.comment(repo, id)
    const { rows } = await github.comments(repo, number)
    const ids = new Set([...rows, ...(byId ? [byId] : [])].filter(isOurs).map((comment) => comment.id))
    const [first, ...copies] = [...ids].sort((a, b) => a - b)
    for (const copy of copies) await orUnanswered(github.deleteComment(repo, copy))
    return first
  }

  return orUnknown<Replied | Stopped>(async () => {
    const before = await standing(knownId)
    if (before !== undefined) return { state: 'said', commentId: before }
    if ((await options.checks()) === 'stop') return { state: 'stopped' }
    const made = await orUnanswered(github.createComment(repo, number, reply.body))
    const madeId = typeof made === 'number' ? made : undefined
    if (madeId !== undefined) await options.onMade(madeId)
    const after = await standing(madeId)
    if (after === undefined) throw notVisible('the reply')
    return { state: 'said', commentId: after }
  })
}
