/** The error of a failed invocation. */

/** Branch on `errorType`: the literal name of the function's error, or an error type of the runtime. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError'
  readonly errorType: string
  readonly errorMessage: string

  constructor(errorType: string, errorMessage: string) {
    super(`${errorType}: ${errorMessage}`)
    this.errorType = errorType
    this.errorMessage = errorMessage
  }
}
