/** DynamoDB's numbers: decimal text of up to 38 digits, compared and added exactly. */
import { validationError } from '../../../../infra/local/dynamodb/errors.ts'

const DIGITS_MAX = 38
const EXPONENT_MAX = 125
const EXPONENT_MIN = -130

/** Whole numbers in stored form, small enough to be exact as JavaScript numbers. */
const PLAIN = /^(?:0|-?[1-9]\d{0,14})$/
const NUMERAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

interface Decimal {
  readonly digits: bigint // signed
  readonly scale: number // digits × 10^scale
}

/** The text in which DynamoDB stores and answers a number. Throws ValidationException if the text is no number. */
export function normalDecimal(text: string): string {
  return PLAIN.test(text) ? text : show(parse(text))
}

/** Less than, equal to or more than 0, like `a - b`. Both in normal form. */
export function compareDecimals(a: string, b: string): number {
  if (PLAIN.test(a) && PLAIN.test(b)) return Number(a) - Number(b)
  const { digits } = sum(parse(a), negative(parse(b)))
  return digits > 0n ? 1 : digits < 0n ? -1 : 0
}

export function addDecimals(a: string, b: string): string {
  if (PLAIN.test(a) && PLAIN.test(b)) return String(Number(a) + Number(b))
  return show(sum(parse(a), parse(b)))
}

export function subtractDecimals(a: string, b: string): string {
  if (PLAIN.test(a) && PLAIN.test(b)) return String(Number(a) - Number(b))
  return show(sum(parse(a), negative(parse(b))))
}

/** A number's bytes in an item: about half a byte per digit, plus one. */
export function decimalBytes(text: string): number {
  const digits = text
    .replace(/^-/, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

function parse(text: string): Decimal {
  const [, sign, whole = '', part = '', exponent = '0'] = NUMERAL.exec(text) ?? []
  if (sign === undefined || whole + part === '') {
    throw validationError(`The parameter cannot be converted to a numeric value: ${text}`)
  }
  const digits = (whole + part).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const scale = Number(exponent) - part.length + digits.length - significant.length
  if (significant === '') return { digits: 0n, scale: 0 }
  const magnitude = significant.length - 1 + scale
  if (magnitude > EXPONENT_MAX) {
    throw validationError('Number overflow. Attempting to store a number with magnitude larger than supported range')
  }
  if (magnitude < EXPONENT_MIN) {
    throw validationError('Number underflow. Attempting to store a number with magnitude smaller than supported range')
  }
  if (significant.length > DIGITS_MAX) {
    throw validationError('Attempting to store more than 38 significant digits in a Number')
  }
  return { digits: BigInt(sign === '-' ? `-${significant}` : significant), scale }
}

function sum(a: Decimal, b: Decimal): Decimal {
  const scale = Math.min(a.scale, b.scale)
  const at = ({ digits, scale: own }: Decimal) => digits * 10n ** BigInt(own - scale)
  return { digits: at(a) + at(b), scale }
}

function negative({ digits, scale }: Decimal): Decimal {
  return { digits: -digits, scale }
}

/** The text without exponent and without insignificant zeros; refuses a sum with too many digits. */
function show({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? '-' : ''
  const all = (digits < 0n ? -digits : digits).toString()
  const significant = all.replace(/0+$/, '')
  if (significant === '') return '0'
  if (significant.length > DIGITS_MAX) {
    throw validationError('Attempting to store more than 38 significant digits in a Number')
  }
  const exponent = scale + all.length - significant.length
  if (exponent >= 0) return sign + significant + '0'.repeat(exponent)
  const padded = significant.padStart(1 - exponent, '0')
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}
