/** What became of a command, for tests that count outcomes. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
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

/** Whether a transaction was done, and not refused by one of its conditions. */
export async function won(transact: () => Promise<unknown>): Promise<boolean> {
  try {
    await untilNoConflict(transact)
    return true
  } catch (error) {
    if (error instanceof TransactionCanceledException) return false
    throw error
  }
}

/** On AWS a transaction that meets another one is refused: it is tried again. Ours wait for each other. */
export async function untilNoConflict<T>(transact: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await transact()
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error
      if (!error.CancellationReasons?.some(({ Code }) => Code === 'TransactionConflict')) throw error
    }
  }
}
