/** How a failed invocation comes back. */

/** Branch on `errorType`, which is the literal name of what the function threw, or one of the runtime's own. */
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
