/** The event of a comment: recorded if a person begins the comment with a command, ignored otherwise (B1, B3, B4). Pure. */
import * as z from 'zod'
import { digestOf } from '../../../shared/base/digest.ts'
import { COMMENT_BYTES_MAX } from '../../../shared/base/limits.ts'
import { redact } from '../../../shared/base/redaction.ts'
import { cutAtBytes } from '../../../shared/base/text.ts'
import { isAddressed } from '../../../shared/runs/comment-command.ts'
import type { CommandEvent } from '../../../shared/runs/event.ts'
import { causeOf } from '../../../shared/runs/run-identity.ts'
import { actionNotHandled, originShape, payloadIn, repositoryOf } from './payload.ts'

/** The members read from GitHub's `issue_comment` payload. */
export const commentPayload = z.object({
  action: z.string(),
  issue: z.object({
    number: z.number().int().positive(),
    pull_request: z.looseObject({}).nullish(),
    updated_at: z.iso.datetime({ offset: true }),
  }),
  comment: z.object({
    id: z.number().int().positive(),
    body: z.string().nullish(),
    user: z.object({ login: z.string().min(1), type: z.string() }).nullish(),
  }),
  sender: z.object({ type: z.string() }).nullish(),
  ...originShape,
})

export type CommentDecision =
  | { readonly kind: 'event'; readonly event: CommandEvent }
  | { readonly kind: 'ignored'; readonly reason: string }

/** `body` is the verified text of `issue_comment`. Throws as `payloadIn` and `repositoryOf` do. */
export function decideComment(event: string, body: string): CommentDecision {
  const payload = payloadIn(commentPayload, body)
  const { action, issue, comment, sender } = payload
  const ignored = (reason: string): CommentDecision => ({ kind: 'ignored', reason })
  if (action !== 'created') return ignored(actionNotHandled(event, action))
  if (!issue.pull_request) return ignored('not_a_pull_request')
  // Our own account is a bot too; two bots answering each other would never end.
  if (!comment.user || comment.user.type === 'Bot' || sender?.type === 'Bot') return ignored('not_a_person')
  const text = comment.body ?? ''
  if (!isAddressed(text)) return ignored('not_addressed')
  return {
    kind: 'event',
    event: {
      kind: 'command',
      repository: repositoryOf(payload),
      number: issue.number,
      cause: causeOf.comment(comment.id),
      eventAt: Date.parse(issue.updated_at),
      commentId: comment.id,
      author: comment.user.login,
      // Redacted before the cut: half of a secret is not recognised.
      text: cutAtBytes(redact(text), COMMENT_BYTES_MAX).text,
      payloadDigest: digestOf({ comment: comment.id, author: comment.user.login, text }),
    },
  }
}
