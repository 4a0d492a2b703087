/** Answers over HTTP: JSON, and for a refusal its code, its sentence and its remedy. Pure. */
import type { ErrorCode, Refused } from './errors.ts'

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
export interface HttpAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Statuses of refusals; every other code is answered 422. */
const STATUS_BY_CODE: Partial<Record<ErrorCode, number>> = {
  malformed_body: 400,
  malformed_headers: 400,
  secret_missing: 400,
  signature_missing: 401,
  signature_mismatch: 401,
  unknown_run: 404,
  unknown_route: 404,
  unknown_halt: 404,
  idempotency_conflict: 409,
  halts_full: 409,
  limits_changed: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  busy: 503,
}

export function answer(
  statusCode: number,
  content: object,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(content) }
}

/** The answer to a refused request. The message of a failure begins with its code, which stands in the body only once. */
export function refusalAnswer(
  { code, message, remedy }: Pick<Refused, 'code' | 'message' | 'remedy'>,
  statusCode: number = STATUS_BY_CODE[code] ?? 422,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const sentence = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message
  return answer(statusCode, { error: { code, message: sentence, remedy } }, headers)
}
