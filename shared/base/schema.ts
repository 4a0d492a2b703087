/** Schemas of what is stored: they look at plain data and change nothing of it. Pure. */
import * as z from 'zod'

/** What a schema describes, read-only to its depth. */
export type Stored<Schema extends z.ZodType> = ReadOnly<z.output<Schema>>

type ReadOnly<T> = { readonly [Member in keyof T]: ReadOnly<T[Member]> }

/** A word of a set to which later versions add: one that this version doesn't know is passed on. */
export function openWord<Known extends string>() {
  return z.custom<Known>((value) => typeof value === 'string')
}

/** An array whose elements are not looked at. */
export function unreadArray<Element>() {
  return z.custom<readonly Element[]>(Array.isArray)
}

/** The names of a shape's members. */
export function membersOf<Shape extends object>(shape: Shape) {
  return Object.keys(shape) as (keyof Shape & string)[]
}

/**
 * The value itself if it fits, with the members that the schema doesn't name: a later version may have added them. Else throws
 * what `misfit` makes of the first member that doesn't fit. A member's content is never told: it may be anyone's text.
 */
export function storedAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  misfit: (member: string) => Error,
): Stored<Schema> {
  const { error } = schema.safeParse(value)
  // The schemas of stored data neither default nor transform: what fits is what they describe, as it is.
  if (!error) return value as Stored<Schema>
  throw misfit(String(error.issues[0]?.path[0] ?? 'root'))
}

/** Those members of a plain value that it has. */
export function only<T extends object, Name extends keyof T>(value: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.flatMap((name) => (name in value ? [[name, value[name]]] : []))) as Pick<T, Name>
}

/** A plain value without some of its members. */
export function without<T extends object, Name extends keyof T>(value: T, names: readonly Name[]): Omit<T, Name> {
  const left: Partial<T> = { ...value }
  for (const name of names) delete left[name]
  return left as Omit<T, Name>
}
