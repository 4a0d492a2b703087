/** The members common to all payloads of GitHub, and their parser. Unknown members are allowed: GitHub adds new ones. Pure. */
import * as z from 'zod'
import { Refused } from '../../../shared/base/errors.ts'
import type { Repository } from '../../../shared/runs/run.ts'

/** Members with the origin of a payload. */
export const originShape = {
  repository: z.object({
    id: z.number().int().positive(),
    name: z.string().min(1),
    owner: z.object({ login: z.string().min(1) }),
  }),
  installation: z.object({ id: z.number().int().positive() }).optional(),
}
const origin = z.object(originShape)

/** The reason of an ignored delivery is logged and answered: only the name of an action is repeated there. */
const ACTION_NAME = /^[a-z_]{0,60}$/i

/** The payload in a verified body. Throws Refused: `malformed_body` without JSON, `payload_invalid` naming the member. */
export function payloadIn<T>(schema: z.ZodType<T>, body: string): T {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    throw new Refused('malformed_body', 'The body is not JSON.', 'Send GitHub’s payload unchanged.', {
      cause: error,
    })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Refused(
    'payload_invalid',
    `The payload's ${issue?.path.join('.') || 'root'} differs from GitHub’s payloads.`,
    'Send GitHub’s payload unchanged.',
  )
}

/** Throws Refused `identity_missing` without an installation (AW35). */
export function repositoryOf(payload: z.infer<typeof origin>): Repository {
  const { id, name, owner } = payload.repository
  if (!payload.installation) {
    throw new Refused(
      'identity_missing',
      'The payload names no installation.',
      'Use a GitHub App’s webhook; a repository’s own webhook has no installation to answer through.',
    )
  }
  return { id, owner: owner.login, name, installationId: payload.installation.id }
}

export function actionNotHandled(event: string, action: string): string {
  return `action_not_handled:${event}.${ACTION_NAME.test(action) ? action : '(unnamed)'}`
}
