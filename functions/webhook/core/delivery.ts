/** The decision about a signed delivery: a run, an event for the command room, or no action. Pure. */
import * as z from 'zod'
import { Refused } from '../../../shared/base/errors.ts'
import type { PullRequestEvent } from '../../../shared/runs/event.ts'
import type { RunRequest } from '../../../shared/runs/run.ts'
import { causeOf, runRequestOf } from '../../../shared/runs/run-identity.ts'
import { decideComment } from './comment.ts'
import { actionNotHandled, originShape, payloadIn, repositoryOf } from './payload.ts'

export type Decision =
  | { readonly kind: 'run'; readonly request: RunRequest }
  | { readonly kind: 'event'; readonly event: PullRequestEvent }
  /** Deliberately no action: the reason tells the delivery from a loss. */
  | { readonly kind: 'ignored'; readonly reason: string }

/** Names of handled events; any further event is ignored by its header alone, before any I/O (L11). */
export const HANDLED_EVENTS: readonly string[] = ['pull_request', 'issue_comment']

/** The members read from GitHub's `pull_request` payload. */
export const pullRequestPayload = z.object({
  action: z.string(),
  number: z.number().int().positive(),
  changes: z
    .object({ base: z.unknown().optional(), title: z.unknown().optional(), body: z.unknown().optional() })
    .optional(),
  pull_request: z.object({
    title: z.string(),
    body: z.string().nullish(),
    draft: z.boolean().optional(),
    updated_at: z.iso.datetime({ offset: true }),
    head: z.object({ sha: z.string().optional() }),
    base: z.object({ ref: z.string() }),
  }),
  ...originShape,
})
type PullRequestPayload = z.infer<typeof pullRequestPayload>

const FULL_SHA = /^[0-9a-f]{40}([0-9a-f]{24})?$/

/**
 * Decides about a delivery; `body` is the verified text. Throws Refused: `malformed_body` for a body without JSON,
 * `payload_invalid` for a missing member, `identity_missing` without a head or an installation (AW35).
 */
export function decide(event: string, body: string): Decision {
  if (!HANDLED_EVENTS.includes(event)) return { kind: 'ignored', reason: `event_not_handled:${event}` }
  if (event === 'issue_comment') return decideComment(event, body)
  const payload = payloadIn(pullRequestPayload, body)
  const { action } = payload
  switch (action) {
    case 'opened':
    case 'reopened':
    case 'synchronize':
    case 'ready_for_review':
      if (payload.pull_request.draft) return { kind: 'ignored', reason: `draft:${event}.${action}` }
      return headRun(payload, action === 'opened' || action === 'reopened')
    case 'edited':
      if (payload.pull_request.draft) return { kind: 'ignored', reason: `draft:${event}.${action}` }
      if (payload.changes?.base !== undefined) return headRun(payload, true)
      if (payload.changes?.title !== undefined || payload.changes?.body !== undefined) return textRun(payload)
      return { kind: 'ignored', reason: `nothing_read_changed:${event}.${action}` }
    case 'closed':
      return { kind: 'event', event: closed(payload) }
    default:
      return { kind: 'ignored', reason: actionNotHandled(event, action) }
  }
}

function headRun(payload: PullRequestPayload, opensSeries: boolean): Decision {
  return run(payload, {
    kind: 'full',
    cause: causeOf.head(headOf(payload), payload.pull_request.base.ref),
    opensSeries,
  })
}

/** An edited description is read by analyzers only: no round, no new comment (PR6). */
function textRun(payload: PullRequestPayload): Decision {
  const { title, body } = payload.pull_request
  return run(payload, { kind: 'analyzers', cause: causeOf.text(title, body ?? ''), opensSeries: false })
}

function run(
  payload: PullRequestPayload,
  { kind, cause, opensSeries }: Pick<RunRequest, 'kind' | 'cause' | 'opensSeries'>,
): Decision {
  return {
    kind: 'run',
    request: runRequestOf({
      repository: repositoryOf(payload),
      number: payload.number,
      cause,
      kind,
      head: headOf(payload),
      baseRef: payload.pull_request.base.ref,
      opensSeries,
      eventAt: Date.parse(payload.pull_request.updated_at),
    }),
  }
}

function closed(payload: PullRequestPayload): PullRequestEvent {
  const eventAt = Date.parse(payload.pull_request.updated_at)
  return {
    kind: 'closed',
    repository: repositoryOf(payload),
    number: payload.number,
    cause: `closed:${eventAt}`,
    eventAt,
  }
}

function headOf(payload: PullRequestPayload): string {
  const { sha } = payload.pull_request.head
  if (sha === undefined || !FULL_SHA.test(sha)) {
    throw new Refused('identity_missing', 'The payload names no head commit.', 'Send GitHub’s payload unchanged.')
  }
  return sha
}
