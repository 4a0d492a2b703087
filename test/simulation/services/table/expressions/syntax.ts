/** The syntax trees of parsed expressions. Aliases (`#name`, `:value`) stay unresolved. */

/** `#alias`, a plain name, or a position in a list. */
export type PathPiece = string | number

export interface Path {
  readonly kind: 'path'
  readonly pieces: readonly PathPiece[]
}

export interface Value {
  readonly kind: 'value'
  readonly alias: string
}

export interface Size {
  readonly kind: 'size'
  readonly of: Path | Value
}

export type Operand = Path | Value | Size

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='

export type BooleanFunction =
  | 'attribute_exists'
  | 'attribute_not_exists'
  | 'attribute_type'
  | 'begins_with'
  | 'contains'

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'compare'; readonly comparator: Comparator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: 'between'; readonly of: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly of: Operand; readonly options: readonly Operand[] }
  | { readonly kind: 'call'; readonly name: BooleanFunction; readonly operands: readonly Operand[] }

export type SetValue =
  | Path
  | Value
  | { readonly kind: 'plus' | 'minus'; readonly left: SetValue; readonly right: SetValue }
  | { readonly kind: 'if_not_exists'; readonly path: Path; readonly otherwise: SetValue }
  | { readonly kind: 'list_append'; readonly first: SetValue; readonly second: SetValue }

export type Action =
  | { readonly kind: 'set'; readonly path: Path; readonly value: SetValue }
  | { readonly kind: 'remove'; readonly path: Path }
  | { readonly kind: 'add' | 'delete'; readonly path: Path; readonly value: Value }

/** A parsed expression and its aliases. */
export interface Parsed<Tree> {
  readonly tree: Tree
  readonly aliases: ReadonlySet<string>
}
