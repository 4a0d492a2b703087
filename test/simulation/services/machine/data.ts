/** What travels between states is JSON, and limited. */
import { StatesError } from '../../../../infra/local/stepfunctions/errors.ts'
import { dataBytesMax } from '../../../../infra/local/stepfunctions/task.ts'

/** As JSON text. Throws States.DataLimitExceeded beyond the limit of a state's data (AW61). */
export function jsonWithin(value: unknown, what: string): string {
  const text = JSON.stringify(value)
  // A UTF-16 unit is three bytes at most, so most texts need not be measured.
  if (text.length * 3 <= dataBytesMax || Buffer.byteLength(text) <= dataBytesMax) return text
  throw new StatesError('States.DataLimitExceeded', `${what} has more than ${dataBytesMax} bytes.`)
}
