/** What a caller is answered: plain JSON, and every refusal with its code, its sentence and its remedy (DESIGN §11). Pure. */
import { type ErrorCode, isFailure, Refused } from '../../shared/errors.ts'

export interface HttpAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Statuses of refusals that aren't 422. */
const STATUS_BY_CODE: Partial<Record<ErrorCode, number>> = {
  malformed_body: 400,
  unknown_run: 404,
  unknown_route: 404,
  unknown_halt: 404,
  idempotency_conflict: 409,
  halts_full: 409,
  limits_changed: 409,
}

export function answer(
  statusCode: number,
  content: object,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(content) }
}

/** The answer that a thrown failure means; what is no failure of ours is thrown on: 5xx, so that it is seen. */
export function refusalOf(error: unknown): HttpAnswer {
  if (isFailure(error, 'refused')) return answer(STATUS_BY_CODE[error.code] ?? 422, said(error))
  if (isFailure(error, 'retry')) {
    const remedy = 'Ask again: what was done already is not done twice.'
    const seconds = String(Math.ceil(error.afterMs / 1_000))
    return answer(503, said({ code: error.code, message: error.message, remedy }), { 'retry-after': seconds })
  }
  throw error
}

export function unknownRun(): Refused {
  return new Refused('unknown_run', 'There is no such run.', 'Use the id that the webhook was answered with.')
}

function said({ code, message, remedy }: Pick<Refused, 'code' | 'message' | 'remedy'>) {
  const sentence = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message
  return { error: { code, message: sentence, remedy } }
}
