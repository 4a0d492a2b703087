/** The error answers of the service, and the reasons why the service refuses to start. */
import { ServiceError as ProtocolError } from '../json-protocol.ts'

/** An error answer of DynamoDB, as a client meets it: always status 400; callers compare `name`. */
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
