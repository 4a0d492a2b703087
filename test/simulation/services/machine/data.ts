/** States exchange JSON of limited size. */
import { StatesError } from '../../../../infra/local/stepfunctions/errors.ts'
import { dataBytesMax } from '../../../../infra/local/stepfunctions/task.ts'

/** The value as JSON text. Throws States.DataLimitExceeded beyond the limit of a state's data (AW61). */
export function jsonWithin(value: unknown, what: string): string {
  const text = JSON.stringify(value)
  // A UTF-16 unit has at most three bytes, so most texts need no measuring.
  if (text.length * 3 <= dataBytesMax || Buffer.byteLength(text) <= dataBytesMax) return text
  throw new StatesError('States.DataLimitExceeded', `${what} has more than ${dataBytesMax} bytes.`)
}
