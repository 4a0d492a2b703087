/** Checks of every request: refuses every parameter that isn't simulated. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'

export type Request = Readonly<Record<string, unknown>>
export type Answer = Record<string, unknown>

/** Refuses a request with an unknown member, as an ignored member would mislead a test. */
export function onlyKnown(request: Request, known: ReadonlySet<string>): void {
  for (const member in request) {
    if (!known.has(member)) throw validationError(`${member} is not simulated`)
  }
}

/** The member's value, which must be among `words`; the first word if the member is absent. */
export function oneOf<Word extends string>(request: Request, member: string, words: readonly [Word, ...Word[]]): Word {
  const given = request[member] ?? words[0]
  const word = words.find((each) => each === given)
  if (word !== undefined) return word
  throw validationError(`Value '${String(given)}' at '${member}' must be one of [${words.join(', ')}]`)
}

export function isObject(value: unknown): value is Request {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A list of 1 to `lengthMax` objects. */
export function listOf(value: unknown, member: string, lengthMax: number): readonly Request[] {
  if (Array.isArray(value) && value.length >= 1 && value.length <= lengthMax && value.every(isObject)) return value
  const rule = `Member must have length less than or equal to ${lengthMax} and greater than or equal to 1`
  throw validationError(`1 validation error detected: Value at '${member}' failed to satisfy constraint: ${rule}`)
}
