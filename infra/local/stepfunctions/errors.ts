/** The refusals of the endpoint, under the names of the AWS SDK. */

import { ServiceError } from '../json-protocol.ts'

/** The client errors of the Step Functions API that the endpoint raises; each is HTTP 400. */
export type RefusalCode =
  | 'ExecutionAlreadyExists'
  | 'ExecutionDoesNotExist'
  | 'InvalidArn'
  | 'InvalidExecutionInput'
  | 'InvalidName'
  | 'InvalidOutput'
  | 'InvalidToken'
  | 'StateMachineDoesNotExist'
  | 'TaskDoesNotExist'
  | 'TaskTimedOut'
  | 'UnknownOperationException'
  | 'ValidationException'

/** Refused for the caller's own fault. The message is a sentence and the remedy. */
export class Refusal extends ServiceError {
  declare readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(code, message)
  }
}

/** A task or a whole execution failed with a States error: Retry and Catch match its `name`. */
export class StatesError extends Error {
  /** Read by the engine: false for an error that Retry may not match. */
  readonly isRetryable: boolean
  /** Read by the engine: false for an error that Catch may not match. */
  readonly isCatchable: boolean

  constructor(error: string, cause: string) {
    super(cause)
    this.name = error
    this.isRetryable = !isTerminal(error)
    this.isCatchable = !isTerminal(error)
  }
}

/** Whether neither Retry nor Catch may match the error. */
export function isTerminal(error: string): boolean {
  return terminalErrors.has(error)
}

/** Not even States.ALL matches these: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html. */
const terminalErrors = new Set(['States.DataLimitExceeded', 'States.Runtime'])
