/** Cuts an expression into tokens and reads the tokens in order. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { reservedWords } from './reserved-words.ts'
import type { Parsed, Path, PathPiece, Value } from './syntax.ts'

interface Token {
  readonly kind: 'word' | 'name' | 'value' | 'number' | 'sign' | 'end'
  readonly text: string
}

/** A `#name`, a `:value`, a word, digits, or a sign. */
const TOKEN = /\s*(?:(#\w+)|(:\w+)|([A-Za-z_]\w*)|(\d+)|(<>|<=|>=|[=<>()[\],.+-]))/y
const KINDS = ['name', 'value', 'word', 'number', 'sign'] as const
const END: Token = { kind: 'end', text: '<end>' }

/**
 * A position in an expression. A token that doesn't fit throws ValidationException with the name of the expression's
 * parameter.
 */
export class Reader {
  /** Aliases up to the current token. */
  readonly aliases = new Set<string>()
  readonly #parameter: string
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(parameter: string, text: string) {
    this.#parameter = parameter
    this.#tokens = this.#cut(text)
  }

  /** Throws an error: DynamoDB, or this simulation, doesn't know such an expression. */
  refuse(reason: string): never {
    throw validationError(`Invalid ${this.#parameter}: ${reason}`)
  }

  refuseHere(): never {
    return this.refuse(`Syntax error; token: "${this.#peek().text}"`)
  }

  isAtEnd(): boolean {
    return this.#peek() === END
  }

  /** Reads the next token if the token is `sign`; returns whether it was read. */
  takeSign(sign: string): boolean {
    const { kind, text } = this.#peek()
    if (kind !== 'sign' || text !== sign) return false
    this.#at++
    return true
  }

  expectSign(sign: string): void {
    if (!this.takeSign(sign)) this.refuseHere()
  }

  /** Reads the next token if the token is among `signs`, and returns the token. */
  takeOneOf<Sign extends string>(signs: readonly Sign[]): Sign | undefined {
    return signs.find((sign) => this.takeSign(sign))
  }

  /** Keywords may be in upper or lower case. */
  takeKeyword(keyword: string): boolean {
    const { kind, text } = this.#peek()
    if (kind !== 'word' || text.toUpperCase() !== keyword) return false
    this.#at++
    return true
  }

  /** Reads the name and parenthesis of a function call, and returns the name. */
  takeCall(): string | undefined {
    const { kind, text } = this.#peek()
    const next = this.#tokens[this.#at + 1]
    if (kind !== 'word' || next?.kind !== 'sign' || next.text !== '(') return undefined
    this.#at += 2
    return text
  }

  takeValue(): Value | undefined {
    const { kind, text } = this.#peek()
    if (kind !== 'value') return undefined
    this.#at++
    this.aliases.add(text)
    return { kind: 'value', alias: text }
  }

  path(): Path {
    const pieces: PathPiece[] = [this.#name()]
    for (;;) {
      if (this.takeSign('.')) pieces.push(this.#name())
      else if (this.takeSign('[')) pieces.push(this.#place())
      else return { kind: 'path', pieces }
    }
  }

  /** Operands separated by commas, up to the closing parenthesis. */
  list<Each>(read: () => Each): Each[] {
    const all = [read()]
    while (this.takeSign(',')) all.push(read())
    this.expectSign(')')
    return all
  }

  #name(): string {
    const { kind, text } = this.#peek()
    if (kind !== 'name' && kind !== 'word') this.refuseHere()
    this.#at++
    if (kind === 'name') this.aliases.add(text)
    else if (reservedWords.has(text.toUpperCase())) {
      this.refuse(`Attribute name is a reserved keyword; reserved keyword: ${text}`)
    }
    return text
  }

  #place(): number {
    const { kind, text } = this.#peek()
    if (kind !== 'number') this.refuseHere()
    this.#at++
    this.expectSign(']')
    return Number(text)
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END
  }

  #cut(text: string): Token[] {
    const source = text.trimEnd()
    if (source === '') this.refuse('The expression can not be empty;')
    const tokens: Token[] = []
    TOKEN.lastIndex = 0
    while (TOKEN.lastIndex < source.length) {
      const from = TOKEN.lastIndex
      const match = TOKEN.exec(source)
      if (match === null) this.refuse(`Syntax error; token: "${source.slice(from, from + 10)}"`)
      const which = match.findIndex((part, position) => position > 0 && part !== undefined)
      const kind = KINDS[which - 1]
      if (kind !== undefined) tokens.push({ kind, text: match[which] ?? '' })
    }
    return tokens
  }
}

/** Parses each text once, as a program uses few expressions again and again. */
export function remembering<Tree>(parameter: string, parse: (reader: Reader) => Tree): (text: unknown) => Parsed<Tree> {
  const known = new Map<string, Parsed<Tree>>()
  return (text) => {
    if (typeof text !== 'string') throw validationError(`Invalid ${parameter}: it must be text`)
    const before = known.get(text)
    if (before !== undefined) return before
    const reader = new Reader(parameter, text)
    const tree = parse(reader)
    if (!reader.isAtEnd()) reader.refuseHere()
    const parsed = { tree, aliases: reader.aliases }
    known.set(text, parsed)
    return parsed
  }
}
