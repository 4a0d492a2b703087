/**
 * The schemas of payloads against the types of webhooks published by GitHub. The compiler checks them; no code runs.
 */
import type { components } from '@octokit/openapi-webhooks-types'
import { expectTypeOf, it } from 'vitest'
import type * as z from 'zod'
import type { commentPayload } from '../../../../functions/webhook/core/comment.ts'
import type { pullRequestPayload } from '../../../../functions/webhook/core/delivery.ts'

type Payloads = components['schemas']
type HandledAction = 'opened' | 'reopened' | 'synchronize' | 'ready-for-review' | 'edited' | 'closed'
type Comment = Payloads['webhook-issue-comment-created']

it('GitHub’s payload of every handled action of a pull request fits the schema', () => {
  expectTypeOf<Payloads[`webhook-pull-request-${HandledAction}`]>().toExtend<z.input<typeof pullRequestPayload>>()
})

it('GitHub’s payload of a comment fits the schema, but for the author’s type, which the schema also demands', () => {
  expectTypeOf<Comment & { comment: { user: { type: string } | null } }>().toExtend<z.input<typeof commentPayload>>()
  // Without its type, a bot could be taken for a person.
  expectTypeOf<Comment>().not.toExtend<z.input<typeof commentPayload>>()
})
