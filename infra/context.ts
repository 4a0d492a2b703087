/** Reads the CDK context (`cdk.json`, or `-c muster:<name>=<value>`) and collects all problems for one error. */
import type { Node } from 'constructs'

const prefix = 'muster:'

export class ContextReader {
  readonly #node: Node
  readonly #asked = new Set<string>()
  readonly #problems: string[] = []

  constructor(node: Node) {
    this.#node = node
  }

  text(name: string): string | undefined {
    const value = this.#value(name)
    if (value === undefined || typeof value === 'string') return value
    return this.refuse(name, 'must be a string', value)
  }

  /** A text of the given form; `expected` describes the form. */
  textLike(name: string, form: RegExp, expected: string): string | undefined {
    const value = this.text(name)
    if (value === undefined || form.test(value)) return value
    return this.refuse(name, `must be ${expected}`, value)
  }

  /** An http or https URL, without trailing slashes. */
  url(name: string): string | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/+$/, '')
    return this.refuse(name, 'must be an http or https URL', value)
  }

  /** A whole number; `-c` passes it as text. */
  wholeNumber(name: string, min: number, why = ''): number | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    const number = Number(value)
    if (Number.isSafeInteger(number) && number >= min) return number
    return this.refuse(name, `must be a whole number of at least ${min}${why}`, value)
  }

  oneOf(name: string, allowed: readonly number[]): number | undefined {
    const value = this.#value(name)
    if (value === undefined || allowed.includes(Number(value))) return value === undefined ? undefined : Number(value)
    return this.refuse(name, `must be one of ${allowed.join(', ')}`, value)
  }

  /** Notes a problem, and returns undefined in place of the value. */
  refuse(name: string, problem: string, value: unknown): undefined {
    this.#problems.push(`${prefix}${name} ${problem}, got ${JSON.stringify(value)}`)
    return undefined
  }

  /** Throws if a value was wrong, or if a given name was never read: a misspelt name would change nothing, silently. */
  finish(): void {
    const given = Object.keys(this.#node.getAllContext()).filter((key) => key.startsWith(prefix))
    const unknown = given.filter((key) => !this.#asked.has(key)).map((key) => `${key} is no setting of Muster`)
    const problems = [...this.#problems, ...unknown]
    if (problems.length === 0) return
    throw new Error(`Wrong CDK context: ${problems.join('; ')}. Correct it in cdk.json or after -c.`)
  }

  /** The given value; an empty text counts as absent. */
  #value(name: string): unknown {
    this.#asked.add(`${prefix}${name}`)
    const value: unknown = this.#node.tryGetContext(`${prefix}${name}`)
    return value === '' ? undefined : value
  }
}
