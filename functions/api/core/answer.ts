/** What a failed request to the API is answered. Pure. */
import { isFailure, Refused } from '../../../shared/base/errors.ts'
import { type HttpAnswer, refusalAnswer } from '../../../shared/base/http-answer.ts'

/** The answer to a thrown failure; any other error is thrown on and answered 5xx, so that an alarm rings. */
export function failureAnswer(error: unknown): HttpAnswer {
  if (isFailure(error, 'refused')) return refusalAnswer(error)
  if (isFailure(error, 'retry')) {
    const remedy = 'Ask again: what was done already is not done twice.'
    const seconds = String(Math.ceil(error.afterMs / 1_000))
    return refusalAnswer({ code: error.code, message: error.message, remedy }, 503, { 'retry-after': seconds })
  }
  throw error
}

export function unknownRun(): Refused {
  return new Refused('unknown_run', 'There is no such run.', 'Use the id that the webhook was answered with.')
}
