/** Which HTTP status a failure has for a caller of the API. Pure. */
import { type ErrorCode, isFailure, Refused } from '../../../shared/base/errors.ts'
import { answer, type HttpAnswer, refusalBody } from '../../../shared/base/http-answer.ts'

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

/** The answer that a thrown failure means; what is no failure of ours is thrown on: 5xx, so that it is seen. */
export function refusalOf(error: unknown): HttpAnswer {
  if (isFailure(error, 'refused')) return answer(STATUS_BY_CODE[error.code] ?? 422, refusalBody(error))
  if (isFailure(error, 'retry')) {
    const remedy = 'Ask again: what was done already is not done twice.'
    const seconds = String(Math.ceil(error.afterMs / 1_000))
    return answer(503, refusalBody({ code: error.code, message: error.message, remedy }), { 'retry-after': seconds })
  }
  throw error
}

export function unknownRun(): Refused {
  return new Refused('unknown_run', 'There is no such run.', 'Use the id that the webhook was answered with.')
}
