/** The storages of the stand-in, on disk and in memory: the same rules, and the history of both. */

import { describe, expect, onTestFinished, test } from 'vitest'
import type { Delivery, IssueComment } from '../../../../infra/local/github/records.ts'
import type { Writer } from '../../../../infra/local/github/store/access.ts'
import { LAG_MS_MAX } from '../../../../infra/local/github/store/history.ts'
import { memoryStorage } from '../../../../infra/local/github/store/memory.ts'
import { sqliteStorage } from '../../../../infra/local/github/store/sqlite.ts'
import type { Storage } from '../../../../infra/local/github/store/storage.ts'
import { createStore } from '../../../../infra/local/github/store/store.ts'
import { temporaryDirectory } from './support.ts'

function opened(open: () => Storage) {
  const clock = { ms: 1_000_000 }
  const storage = open()
  onTestFinished(() => storage.close())
  return { clock, store: createStore(storage, () => clock.ms) }
}

const KINDS: [string, () => Storage][] = [
  ['in SQLite', () => sqliteStorage(temporaryDirectory())],
  ['in memory', memoryStorage],
]

describe.each(KINDS)('%s', (_, open) => {
  const comment = (id: number, body = 'text'): IssueComment => ({
    id,
    number: 1,
    author: { login: 'ana', type: 'User' },
    body,
    createdAt: 0,
    updatedAt: 0,
  })
  const put = (writer: Writer, id: number, body?: string, parent = '7#1') =>
    writer.put('issueComment', id, parent, comment(id, body))

  test('records are found by id, and listed by their parent in the order of their ids', () => {
    const { store } = opened(open)
    store.change((writer) => {
      for (const id of [30, 4, 100]) put(writer, id)
      put(writer, 5, 'elsewhere', '7#2')
    })
    expect(store.list('issueComment', '7#1').map(({ id }) => id)).toEqual([4, 30, 100])
    store.change((writer) => {
      put(writer, 4, 'moved', '7#2')
      writer.remove('issueComment', 30)
      writer.remove('issueComment', 31)
    })
    expect(store.list('issueComment', '7#1').map(({ id }) => id)).toEqual([100])
    expect(store.list('issueComment', '7#2').map(({ body }) => body)).toEqual(['moved', 'elsewhere'])
    expect([store.get('issueComment', 30), store.get('review', 100)]).toEqual([undefined, undefined])
  })

  test('a failed change leaves no record, no number and no history', () => {
    const { clock, store } = opened(open)
    store.change((writer) => put(writer, writer.next('comments', 1), 'kept'))
    clock.ms += 10_000
    const failing = () =>
      store.change((writer) => {
        put(writer, 1, 'first')
        put(writer, 1, 'second')
        put(writer, writer.next('comments', 1))
        writer.remove('issueComment', 1)
        writer.next('others', 50)
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    expect(store.list('issueComment', '7#1')).toEqual([comment(1, 'kept')])
    expect(store.behind(5_000).list('issueComment', '7#1')).toEqual([comment(1, 'kept')])
    expect(store.change((writer) => [writer.next('comments', 1), writer.next('others', 50)])).toEqual([2, 50])
  })

  test('AW73: a lagging reader sees each record as of that time, after any number of changes since', () => {
    const { clock, store } = opened(open)
    const at = (body: string | null) => {
      clock.ms += 1_000
      store.change((writer) => (body === null ? writer.remove('issueComment', 1) : put(writer, 1, body)))
    }
    for (const body of ['one', 'two', null, 'three']) at(body)
    store.change((writer) => put(writer, 1, 'elsewhere', '7#2'))
    const seen = (lagMs: number, parent = '7#1') =>
      store
        .behind(lagMs)
        .list('issueComment', parent)
        .map(({ body }) => body)
    expect([0, 1, 1_000, 1_001, 2_000, 3_000, 3_001].map((lagMs) => seen(lagMs))).toEqual([
      [],
      [],
      [],
      ['two'],
      ['two'],
      ['one'],
      [],
    ])
    expect([seen(0, '7#2'), seen(1, '7#2')]).toEqual([['elsewhere'], []])
    expect(store.behind(1_500).get('issueComment', 1)?.body).toBe('two')
    expect(store.behind(3_500).get('issueComment', 1)).toBeUndefined()
    clock.ms += LAG_MS_MAX
    store.change((writer) => put(writer, 2))
    expect(seen(LAG_MS_MAX, '7#2')).toEqual(['elsewhere'])
  })

  test('deliveries are always current', () => {
    const { store } = opened(open)
    store.change((writer) => writer.put('delivery', 1, 'due', { sequence: 1 } as Delivery))
    expect(store.behind(1_000).list('delivery', 'due')).toHaveLength(1)
  })
})
