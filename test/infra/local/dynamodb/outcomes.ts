/** The outcomes of commands, for tests that count them. */
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { expect } from 'vitest'

/** The error of `work`, which must be of `kind`. */
export async function failureOf<E extends Error>(
  work: Promise<unknown>,
  kind: abstract new (...input: never[]) => E,
): Promise<E> {
  const error = await work.then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(kind)
  return error as E
}

/** Whether a transaction was done, and not refused by a condition. */
export async function won(transact: () => Promise<unknown>): Promise<boolean> {
  try {
    await untilNoConflict(transact)
    return true
  } catch (error) {
    if (error instanceof TransactionCanceledException) return false
    throw error
  }
}

/** On AWS a conflict with a running transaction is refused, so the attempt is repeated. The local table waits. */
export async function untilNoConflict<T>(transact: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await transact()
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  }
}

function isConflict(error: unknown): boolean {
  if (error instanceof TransactionConflictException) return true
  if (!(error instanceof TransactionCanceledException)) return false
  return error.CancellationReasons?.some(({ Code }) => Code === 'TransactionConflict') ?? false
}
