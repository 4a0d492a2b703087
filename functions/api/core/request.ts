/** A request of API Gateway (payload format 2.0), read strictly: which route, about what, by whom, asking what. Pure. */
import * as z from 'zod'
import { Refused } from '../../../shared/base/errors.ts'
import { redact } from '../../../shared/base/redaction.ts'

/** The members of API Gateway's event that are read. Header names arrive lower-cased. */
export interface HttpRequest {
  readonly routeKey?: string | undefined
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  readonly body?: string | undefined
  readonly isBase64Encoded?: boolean
  readonly requestContext?:
    | {
        readonly requestId?: string | undefined
        readonly authorizer?: { readonly iam?: { readonly userArn?: string | null } | undefined } | undefined
      }
    | undefined
}

/** What a halt's scope is called in a path. */
const SCOPE = /^(fleet|(installation|repository)\/[1-9]\d{0,15})$/
const RUN_ID = /^[0-9a-f]{64}$/
/** RFC 9110: an entity tag; ours is the revision of the limits. */
const REVISION = /^"?(\d{1,15})"?$/
/** A key of a caller's own making: printable and short, because a run remembers it. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,100}$/

const haltBody = z.strictObject({ why: z.string().optional() })
const emptyBody = z.strictObject({})

/** The run id in a request's path; undefined if it is none. */
export function runIdIn(request: HttpRequest): string | undefined {
  const id = request.pathParameters?.runId ?? ''
  return RUN_ID.test(id) ? id : undefined
}

/** The scope in a request's path. Throws Refused `unknown_scope`. */
export function scopeIn(request: HttpRequest): 'fleet' | `installation/${number}` | `repository/${number}` {
  const scope = request.pathParameters?.scope ?? ''
  if (SCOPE.test(scope)) return scope as ReturnType<typeof scopeIn>
  throw new Refused(
    'unknown_scope',
    'The scope of a halt is named in another way.',
    'Name fleet, installation/<id> or repository/<id>, with GitHub’s ids.',
  )
}

/** The JSON in a request's body; undefined without one. Throws Refused `malformed_body`. */
export function jsonIn(request: HttpRequest): unknown {
  const text = Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8').toString('utf8')
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refused('malformed_body', 'The body is not JSON.', 'Send JSON, or no body where none is needed.', {
      cause: error,
    })
  }
}

/** Why a halt is set, redacted; empty if nobody says. Throws Refused `payload_invalid` for a body with anything else in it. */
export function whyIn(request: HttpRequest): string {
  return redact(parsed(haltBody, jsonIn(request)).why ?? '')
}

/** Throws Refused `payload_invalid` for a body that says something where nothing is asked. */
export function expectNothingIn(request: HttpRequest): void {
  parsed(emptyBody, jsonIn(request))
}

/** The revision that `If-Match` names; undefined without one. Throws Refused `payload_invalid`. */
export function revisionIn(request: HttpRequest): number | undefined {
  const header = request.headers?.['if-match']
  if (header === undefined) return undefined
  const revision = REVISION.exec(header.trim())?.[1]
  if (revision === undefined) {
    throw new Refused('payload_invalid', 'If-Match names no revision.', 'Name the revision that GET /fleet shows.')
  }
  return Number(revision)
}

/** Names the asking: the caller's own `Idempotency-Key`, else the request's id. Throws Refused `payload_invalid`. */
export function askedIdIn(request: HttpRequest): string {
  const key = request.headers?.['idempotency-key']
  if (key === undefined) return `api:${request.requestContext?.requestId ?? ''}`
  if (IDEMPOTENCY_KEY.test(key)) return `api:${key}`
  throw new Refused('payload_invalid', 'Idempotency-Key is too long, or not printable.', 'Use 1 to 100 of ASCII.')
}

/** Who asks, as IAM knows them: the last part of the caller's ARN, such as a role's session. */
export function callerOf(request: HttpRequest): string {
  const arn = request.requestContext?.authorizer?.iam?.userArn
  return arn?.slice(arn.indexOf('/') + 1) || 'an operator'
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value ?? {})
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Refused(
    'payload_invalid',
    `The body is not as this version takes it: ${issue?.path.join('.') || 'root'}: ${issue?.message ?? ''}.`,
    'Leave out what is not known.',
  )
}
