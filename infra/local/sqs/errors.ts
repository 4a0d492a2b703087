/** The refusals of SQS: the codes of its JSON protocol, each with its status and its older code. */
import { ServiceError } from '../json-protocol.ts'

/** Code → [HTTP status, code of the query protocol], as in the SDK's own model of SQS. */
const refusals = {
  InvalidAttributeName: [400, 'InvalidAttributeName'],
  InvalidAttributeValue: [400, 'InvalidAttributeValue'],
  InvalidMessageContents: [400, 'InvalidMessageContents'],
  InvalidParameterValue: [400, 'InvalidParameterValue'],
  MessageNotInflight: [400, 'AWS.SimpleQueueService.MessageNotInflight'],
  MissingParameter: [400, 'MissingParameter'],
  QueueDoesNotExist: [400, 'AWS.SimpleQueueService.NonExistentQueue'],
  QueueNameExists: [400, 'QueueAlreadyExists'],
  ReceiptHandleIsInvalid: [404, 'ReceiptHandleIsInvalid'],
} as const satisfies Record<string, readonly [number, string]>

export type SqsErrorCode = keyof typeof refusals

/** The error for `code`; `message` says what is wrong and what would be right. */
export function sqsError(code: SqsErrorCode, message: string): ServiceError {
  const [status, queryCode] = refusals[code]
  return new ServiceError(code, message, { status, queryCode })
}

/** The form of SQS's report of a bad parameter. */
export function invalidParameter(name: string, value: unknown, reason: string): ServiceError {
  return sqsError('InvalidParameterValue', `Value ${String(value)} for parameter ${name} is invalid. Reason: ${reason}`)
}
