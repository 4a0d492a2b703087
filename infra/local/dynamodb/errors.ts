/** What this service can answer instead of a result, and why it can refuse to start. */
import { ServiceError as ProtocolError } from '../json-protocol.ts'

/** An error answer of DynamoDB, as a client meets it: always status 400, `name` is what callers compare. */
export class ServiceError extends ProtocolError {
  override readonly name: string

  /** `members` stand beside the message, for example `Item` or `CancellationReasons`. */
  constructor(name: string, message: string, members: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(name, message, { ...options, members })
    this.name = name
  }
}

/** The request itself is wrong. */
export function validationError(message: string): ServiceError {
  return new ServiceError('ValidationException', message)
}

/** The state on disk can't be used; the message is one sentence and the remedy. */
export class StateError extends Error {
  override readonly name = 'StateError'
  readonly code: 'state_in_use' | 'state_unusable'

  constructor(code: StateError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
