/** Answers of the API to failed requests. Pure. */
import { isFailure, Refused } from '../../../shared/base/errors.ts'
import { type HttpAnswer, refusalAnswer } from '../../../shared/base/http-answer.ts'

/** The answer to a thrown failure. Any unknown error is thrown again and answered 5xx, and an alarm rings. */
export function failureAnswer(error: unknown): HttpAnswer {
  if (isFailure(error, 'refused')) return refusalAnswer(error)
  if (isFailure(error, 'retry')) {
    const remedy = 'Send the request again: nothing is done twice.'
    const seconds = String(Math.ceil(error.afterMs / 1_000))
    return refusalAnswer({ code: error.code, message: error.message, remedy }, 503, { 'retry-after': seconds })
  }
  throw error
}

export function unknownRun(): Refused {
  return new Refused('unknown_run', 'No run has this id.', 'Use the run id from the answer to the webhook.')
}
