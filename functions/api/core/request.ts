/** A request of API Gateway (payload format 2.0), read strictly: route, subject, caller and content. Pure. */
import * as z from 'zod'
import { Refused } from '../../../shared/base/errors.ts'
import { redact } from '../../../shared/base/redaction.ts'
import { unknownRun } from './answer.ts'

/** The members read from API Gateway's event. Header names arrive in lower case. */
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

/** The scope of a halt, as written in a path. */
const SCOPE = /^(fleet|(installation|repository)\/[1-9]\d{0,15})$/
const RUN_ID = /^[0-9a-f]{64}$/
/** An entity tag as in RFC 9110; ours is the revision of the limits. */
const REVISION = /^"?(\d{1,15})"?$/
/** A key chosen by the caller: printable and short, as the run remembers the key. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,100}$/

const haltBody = z.strictObject({ why: z.string().optional() })
const emptyBody = z.strictObject({})

/** The run id in a request's path. Throws Refused `unknown_run`. */
export function runIdIn(request: HttpRequest): string {
  const id = request.pathParameters?.runId ?? ''
  if (RUN_ID.test(id)) return id
  throw unknownRun()
}

/** The scope in a request's path. Throws Refused `unknown_scope`. */
export function scopeIn(request: HttpRequest): 'fleet' | `installation/${number}` | `repository/${number}` {
  const scope = request.pathParameters?.scope ?? ''
  if (SCOPE.test(scope)) return scope as ReturnType<typeof scopeIn>
  throw new Refused(
    'unknown_scope',
    'The scope of the halt is unknown.',
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
    throw new Refused('malformed_body', 'The body is not JSON.', 'Send JSON, or no body if none is needed.', {
      cause: error,
    })
  }
}

/** The reason for a halt, redacted; empty if the body gives none. Throws Refused `payload_invalid` for any other member. */
export function whyIn(request: HttpRequest): string {
  return redact(parsed(haltBody, jsonIn(request)).why ?? '')
}

/** Throws Refused `payload_invalid` for a body with any content. */
export function expectNothingIn(request: HttpRequest): void {
  parsed(emptyBody, jsonIn(request))
}

/** The revision named by `If-Match`; undefined without the header. Throws Refused `payload_invalid`. */
export function revisionIn(request: HttpRequest): number | undefined {
  const header = request.headers?.['if-match']
  if (header === undefined) return undefined
  const revision = REVISION.exec(header.trim())?.[1]
  if (revision === undefined) {
    throw new Refused('payload_invalid', 'If-Match names no revision.', 'Name the revision that GET /fleet shows.')
  }
  return Number(revision)
}

/** The identity of the request: the caller's `Idempotency-Key`, else the request's id. Throws Refused `payload_invalid`. */
export function askedIdIn(request: HttpRequest): string {
  const key = request.headers?.['idempotency-key']
  if (key === undefined) return `api:${request.requestContext?.requestId ?? ''}`
  if (IDEMPOTENCY_KEY.test(key)) return `api:${key}`
  throw new Refused(
    'payload_invalid',
    'Idempotency-Key is too long, or not printable.',
    'Use 1 to 100 printable ASCII characters.',
  )
}

/** The caller as known to IAM: the last part of the ARN, such as the session of a role. */
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
    `The body does not fit the schema: ${issue?.path.join('.') || 'root'}: ${issue?.message ?? ''}.`,
    'Leave out unknown members.',
  )
}
