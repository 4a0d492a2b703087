/** Schemas of stored data: a schema checks plain data and changes nothing. Pure. */
import * as z from 'zod'

/** The described value, read-only to its depth. */
export type Stored<Schema extends z.ZodType> = ReadOnly<z.output<Schema>>

type ReadOnly<T> = { readonly [Member in keyof T]: ReadOnly<T[Member]> }

/** A word of a set that later versions extend: an unknown word passes. */
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
 * The value itself if it fits, with members that the schema doesn't name: a later version may have added them. Throws
 * the error that `misfit` makes of the first misfit member. The error never tells a member's content, which may be
 * private.
 */
export function storedAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  misfit: (member: string) => Error,
): Stored<Schema> {
  // A process reads few values of each kind: compiling a parser takes longer than the parser saves.
  const { error } = schema.safeParse(value, { jitless: true })
  // Schemas of stored data neither default nor transform, so the value is already as described.
  if (!error) return value as Stored<Schema>
  throw misfit(String(error.issues[0]?.path[0] ?? 'root'))
}

/** The listed members of a plain value. */
export function only<T extends object, Name extends keyof T>(value: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.flatMap((name) => (name in value ? [[name, value[name]]] : []))) as Pick<T, Name>
}

/** A plain value without the listed members. */
export function without<T extends object, Name extends keyof T>(value: T, names: readonly Name[]): Omit<T, Name> {
  const left: Partial<T> = { ...value }
  for (const name of names) delete left[name]
  return left as Omit<T, Name>
}
