/** Reads and validates the fields of a request, with the bounds of the Step Functions API reference. */
import { Refusal } from './errors.ts'
import { dataBytesMax } from './task.ts'

/** The SDK's input; each member is checked by itself. */
export type Input = Readonly<Record<string, unknown>>

/** The members of a request; none for a body other than an object. */
export function inputOf(body: unknown): Input {
  return typeof body === 'object' && body !== null ? (body as Input) : {}
}

/** Characters of an error's name and of its cause: SendTaskFailure and StopExecution in the API reference. */
const errorCharactersMax = 256
const causeCharactersMax = 32_768

/** Results of one page: ListExecutions and GetExecutionHistory in the API reference. */
const pageResultsMax = 1_000
const pageResultsDefault = 100

const nameCharactersMax = 80

/** Characters that a name may not contain: StartExecution in the API reference. `\s` and surrogates included. */
const forbiddenInName = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\p{Cs}\uFFFE\uFFFF]/u

/** The token's execution in 32 hex digits, and 32 unguessable digits. */
const tokenPattern = /^[0-9a-f]{32}\.[0-9a-f]{32}$/

export function required(input: Input, field: string): string {
  const value = optional(input, field)
  if (value !== undefined && value !== '') return value
  throw new Refusal('ValidationException', `The field ${field} is missing. Give it as a string.`)
}

export function optional(input: Input, field: string): string | undefined {
  const value = input[field]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw new Refusal('ValidationException', `The field ${field} is no string. Give it as a string.`)
}

/** An ARN of the wanted kind. */
export function arn(input: Input, field: string, kind: 'stateMachine' | 'execution'): string {
  const value = required(input, field)
  if (new RegExp(`^arn:[\\w-]+:states:[\\w-]*:\\d*:${kind}:.+$`).test(value)) return value
  throw new Refusal('InvalidArn', `"${value}" is no ARN of a ${kind}. Take it from the answer that named it.`)
}

export function validName(name: string): string {
  if (name.length <= nameCharactersMax && !forbiddenInName.test(name)) return name
  const rule = `Use 1 to ${nameCharactersMax} letters, digits, hyphens and underscores.`
  throw new Refusal('InvalidName', `"${name.slice(0, nameCharactersMax)}" cannot name an execution. ${rule}`)
}

/** JSON text within the limit of a state's data. */
export function jsonText(text: string, code: 'InvalidExecutionInput' | 'InvalidOutput'): string {
  if (Buffer.byteLength(text) > dataBytesMax) {
    throw new Refusal(
      'ValidationException',
      `The text has more than ${dataBytesMax} bytes. Store the content and pass its key.`,
    )
  }
  try {
    JSON.parse(text)
    return text
  } catch {
    throw new Refusal(code, 'The text is no JSON. Serialise the value with JSON.stringify.')
  }
}

export function taskToken(input: Input): string {
  const token = required(input, 'taskToken')
  if (tokenPattern.test(token)) return token
  throw new Refusal('InvalidToken', 'The value is no task token. Pass on $$.Task.Token unchanged.')
}

export function errorAndCause(input: Input): { error?: string; cause?: string } {
  const error = optional(input, 'error')
  const cause = optional(input, 'cause')
  if ((error?.length ?? 0) > errorCharactersMax || (cause?.length ?? 0) > causeCharactersMax) {
    const rule = `At most ${errorCharactersMax} and ${causeCharactersMax} characters are allowed.`
    throw new Refusal('ValidationException', `The error or its cause is too long. ${rule}`)
  }
  return { ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }
}

/** The requested page: the number of results, and the end of the last page. */
export function page(input: Input): { limit: number; after: number | undefined } {
  const limit = input.maxResults ?? 0
  if (!Number.isInteger(limit) || (limit as number) < 0 || (limit as number) > pageResultsMax) {
    throw new Refusal('ValidationException', `maxResults is out of range. Use 1 to ${pageResultsMax}.`)
  }
  const token = optional(input, 'nextToken')
  if (token !== undefined && !/^\d{1,15}$/.test(token)) {
    throw new Refusal('InvalidToken', 'The value is no token of a page. Pass on nextToken unchanged, or omit it.')
  }
  return { limit: (limit as number) || pageResultsDefault, after: token === undefined ? undefined : Number(token) }
}
