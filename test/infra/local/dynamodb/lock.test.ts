/** The reader–writer lock. */
import { expect, test } from 'vitest'
import { ReaderWriterLock } from '../../../../infra/local/dynamodb/lock.ts'

/** Work that reports its start and ends on command. */
function work(log: string[], name: string): { run: () => Promise<void>; end: () => void } {
  const ended = Promise.withResolvers<void>()
  return {
    run: () => {
      log.push(name)
      return ended.promise
    },
    end: () => ended.resolve(),
  }
}

test('shared work runs side by side; exclusive work waits for shared work, and later shared work for the exclusive', async () => {
  const log: string[] = []
  const lock = new ReaderWriterLock()
  const [a, b, alone, c] = ['a', 'b', 'alone', 'c'].map((name) => work(log, name))
  if (!a || !b || !alone || !c) throw new Error('four pieces of work')
  const done = [lock.shared(a.run), lock.shared(b.run), lock.exclusive(alone.run), lock.shared(c.run)]
  a.end()
  await done[0]
  expect(log).toEqual(['a', 'b'])
  b.end()
  await done[1]
  await Promise.resolve()
  expect(log).toEqual(['a', 'b', 'alone'])
  alone.end()
  await done[2]
  c.end()
  await Promise.all(done)
  expect(log).toEqual(['a', 'b', 'alone', 'c'])
})

test('failed work lets the next work in', async () => {
  const lock = new ReaderWriterLock()
  await expect(lock.exclusive(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await expect(lock.shared(() => Promise.reject(new Error('failed too')))).rejects.toThrow('failed too')
  expect(await lock.exclusive(() => Promise.resolve('in'))).toBe('in')
})
