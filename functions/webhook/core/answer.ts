/** What the sender of a webhook is told: 2xx only for what is durably recorded or knowingly ignored (DESIGN §11). */
import type { ErrorCode, Refused } from '../../../shared/base/errors.ts'
import { answer, type HttpAnswer, refusalBody } from '../../../shared/base/http-answer.ts'

/** Statuses of refusals that aren't 400. */
const STATUS_BY_CODE: Partial<Record<ErrorCode, number>> = {
  signature_missing: 401,
  signature_mismatch: 401,
  idempotency_conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  payload_invalid: 422,
  identity_missing: 422,
  busy: 503,
}

/** 202 with what became of the delivery. */
export function accepted(content: Readonly<Record<string, string | number>>): HttpAnswer {
  return answer(202, content)
}

/** A refusal: its code, its sentence and its remedy. */
export function refusal(error: Pick<Refused, 'code' | 'message' | 'remedy'>): HttpAnswer {
  return answer(STATUS_BY_CODE[error.code] ?? 400, refusalBody(error))
}
