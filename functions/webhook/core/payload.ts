/** What every payload of GitHub has, and how one is read. Other members are left alone: GitHub adds new ones. Pure. */
import * as z from 'zod'
import { Refused } from '../../../shared/base/errors.ts'
import type { Repository } from '../../../shared/runs/run.ts'

/** Members of the payload that say where it comes from. */
export const originShape = {
  repository: z.object({
    id: z.number().int().positive(),
    name: z.string().min(1),
    owner: z.object({ login: z.string().min(1) }),
  }),
  installation: z.object({ id: z.number().int().positive() }).optional(),
}
const origin = z.object(originShape)

/** The reason of an ignored delivery is logged and answered: what is no name of an action is not repeated in it. */
const ACTION_NAME = /^[a-z_]{0,60}$/i

/** The payload in a verified body. Throws Refused: `malformed_body` if it is no JSON, `payload_invalid` naming a member. */
export function payloadIn<T>(schema: z.ZodType<T>, body: string): T {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    throw new Refused('malformed_body', 'The body is not JSON.', 'Send the payload as GitHub made it.', {
      cause: error,
    })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Refused(
    'payload_invalid',
    `The payload's ${issue?.path.join('.') || 'root'} is not as GitHub sends it.`,
    'Send the payload as GitHub made it.',
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
