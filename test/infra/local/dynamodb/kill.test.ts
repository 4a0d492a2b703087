/** The state after kill -9: every answered write, and no half-done work. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { DynamoDBDocumentClient, ScanCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clientFor } from './client.ts'
import { type ServingProcess, startProcess } from './process.ts'
import { createContractTable } from './table.ts'

type Row = Readonly<Record<string, unknown>>

const ROUNDS = 8
const LOOPS = 6 // of each kind, side by side
const KILL_WITHIN_MS = 150 // long enough for dozens of writes, short enough for many rounds
const SEED = 20_261_107
const TEST_MS = 120_000 // a process starts in 0.3 s on an idle machine and in seconds on a busy one
const TableName = 'killed'

vi.setConfig({ testTimeout: TEST_MS })

let directory: string
let serving: ServingProcess | undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'muster-dynamodb-kill-'))
})
afterEach(async () => {
  await serving?.kill()
  await rm(directory, { recursive: true })
})

async function start(): Promise<{ process: ServingProcess; documents: DynamoDBDocumentClient }> {
  serving = await startProcess(directory)
  const client = clientFor(serving.said.url ?? '')
  return { process: serving, documents: DynamoDBDocumentClient.from(client) }
}

test(`a kill -9 tears no transaction, loses no answered write, and leaves the index true (seed ${SEED})`, async () => {
  const random = randomFrom(SEED)
  const answered = new Map<string, number>() // loop → the last number whose write was answered
  const first = await start()
  await createContractTable(clientFor(first.process.said.url ?? ''), TableName)
  let { process, documents } = first
  let writes = 0

  for (let round = 0; round < ROUNDS; round++) {
    const killed = new AbortController()
    const loops = Array.from({ length: LOOPS }, (_, loop) => [
      writeUntilKilled(killed.signal, `PAIR#${loop}`, answered, (n) => writePair(documents, loop, n)),
      writeUntilKilled(killed.signal, `SINGLE#${loop}`, answered, (n) => writeSingle(documents, loop, n)),
    ])
    await after(random() * KILL_WITHIN_MS)
    killed.abort()
    await process.kill()
    writes += (await Promise.all(loops.flat())).reduce((sum, each) => sum + each, 0)
    ;({ process, documents } = await start())

    const rows = await scan(documents)
    const byKey = new Map(rows.map((row) => [`${row.pk} ${row.sk}`, row]))
    for (let loop = 0; loop < LOOPS; loop++) {
      const left = numberOf(byKey.get(`PAIR#${loop} LEFT`))
      expect(numberOf(byKey.get(`PAIR#${loop} RIGHT`)), `round ${round}: the two sides of pair ${loop}`).toBe(left)
      const entries = rows.filter(({ pk, sk }) => pk === `PAIR#${loop}` && String(sk).startsWith('ENTRY#'))
      expect(entries, `round ${round}: one entry for each transaction of pair ${loop}`).toHaveLength(left)
      expect(left).toBeGreaterThanOrEqual(answered.get(`PAIR#${loop}`) ?? 0)
      expect(numberOf(byKey.get(`SINGLE#${loop} ITEM`))).toBeGreaterThanOrEqual(answered.get(`SINGLE#${loop}`) ?? 0)
    }
    expect((await scan(documents, 'due')).map(keysOf).sort(), `round ${round}: the index`).toEqual(
      rows.filter(isDue).map(keysOf).sort(),
    )
    for (const row of rows) answered.set(String(row.pk), numberOf(byKey.get(`${row.pk} LEFT`) ?? row))
  }
  expect(writes).toBeGreaterThan(0) // the kills came in the middle of work, even on a busy machine with little progress
})

test('a transaction repeated under its token after a kill is answered by the next process, and not done twice', async () => {
  const before = await start()
  await createContractTable(clientFor(before.process.said.url ?? ''), TableName)
  const raise = (ClientRequestToken: string) =>
    new TransactWriteCommand({ ClientRequestToken, TransactItems: [{ Update: increment('COUNTER', 'ITEM') }] })
  await before.documents.send(raise('first'))
  await before.process.kill()
  const { documents } = await start()
  await documents.send(raise('first'))
  await documents.send(raise('second'))
  expect((await scan(documents)).map(numberOf)).toEqual([2])
})

test('a second process on a directory is refused with the pid of the first and the remedy, until the first is dead', async () => {
  const { process: first } = await start()
  const second = await startProcess(directory)
  expect(second.said.code).toBe('state_in_use')
  expect(second.said.message).toBe(
    `The state in ${directory} is in use by process ${first.pid}. Stop that process, or choose another directory.`,
  )
  await second.kill()
  await first.kill()
  const { process: third } = await start()
  expect(third.said.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

/** Counts its writes up from the record of the last round; ends when a write fails because of the kill. */
async function writeUntilKilled(
  killed: AbortSignal,
  loop: string,
  answered: Map<string, number>,
  write: (n: number) => Promise<unknown>,
): Promise<number> {
  let writes = 0
  for (let n = (answered.get(loop) ?? 0) + 1; !killed.aborted; n++) {
    try {
      await write(n)
    } catch (error) {
      if (killed.aborted) break
      throw error
    }
    answered.set(loop, n)
    writes++
  }
  return writes
}

/** Both sides move to `n`, in and out of the index by turns; an entry is appended. */
function writePair(documents: DynamoDBDocumentClient, loop: number, n: number): Promise<unknown> {
  const pk = `PAIR#${loop}`
  return documents.send(
    new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item: { pk, sk: 'LEFT', n, ...dueAt(n) } } },
        { Put: { TableName, Item: { pk, sk: `ENTRY#${n}`, ...dueAt(n + 1) } } },
        { Update: increment(pk, 'RIGHT') },
      ],
    }),
  )
}

function writeSingle(documents: DynamoDBDocumentClient, loop: number, n: number): Promise<unknown> {
  const { UpdateExpression, ...update } = increment(`SINGLE#${loop}`, 'ITEM')
  const leaves = `${UpdateExpression} REMOVE dueAt`
  const enters = `${UpdateExpression}, dueShard = :shard, dueAt = :one`
  const values = { ...update.ExpressionAttributeValues, ...(n % 2 === 1 && { ':shard': 'DUE#1' }) }
  return documents.send(
    new UpdateCommand({
      ...update,
      UpdateExpression: n % 2 === 1 ? enters : leaves,
      ExpressionAttributeValues: values,
    }),
  )
}

function increment(pk: string, sk: string) {
  return {
    TableName,
    Key: { pk, sk },
    UpdateExpression: 'SET n = if_not_exists(n, :zero) + :one',
    ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
  }
}

function dueAt(n: number): Row {
  return n % 2 === 1 ? { dueShard: 'DUE#0', dueAt: n } : {}
}

async function scan(documents: DynamoDBDocumentClient, IndexName?: string): Promise<Row[]> {
  const rows: Row[] = []
  let ExclusiveStartKey: Row | undefined
  do {
    const page = await documents.send(
      new ScanCommand({ TableName, ...(IndexName && { IndexName }), ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    )
    rows.push(...(page.Items ?? []))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
  return rows
}

function isDue(row: Row): boolean {
  return row.dueShard !== undefined && row.dueAt !== undefined
}

function keysOf({ pk, sk, dueShard, dueAt }: Row): string {
  return `${pk} ${sk} ${dueShard} ${dueAt}`
}

function numberOf(row: Row | undefined): number {
  return Number(row?.n ?? 0)
}

/** Mulberry32: the same numbers in [0, 1) for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
