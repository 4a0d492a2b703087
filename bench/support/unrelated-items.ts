/**
 * Fills a simulated table with unrelated items: ended runs of other pull requests, as the table keeps them for a while.
 */
import type { SimulatedTable } from '../../test/simulation/services/table.ts'
import { createTable } from '../../test/simulation/stack.ts'

/** Items of one transaction: DynamoDB's limit. */
const TRANSACTION_MAX = 100
/** Ended runs of one day, next to each other in the index for people. */
const RUNS_A_DAY = 2_000
const DAY_MS = 24 * 3_600_000

/** Puts `count` items: for each other run the run, two reviews, and the thread of its pull request. */
export function fillUnrelated(table: SimulatedTable, count: number): void {
  for (let from = 0; from < count; from += TRANSACTION_MAX) {
    const size = Math.min(TRANSACTION_MAX, count - from)
    const puts = Array.from({ length: size }, (_, index) => ({
      Put: { TableName: createTable.TableName, Item: itemOf(from + index) },
    }))
    const { status, body } = table.answer({
      method: 'POST',
      path: '/',
      headers: { 'x-amz-target': 'DynamoDB_20120810.TransactWriteItems' },
      body: JSON.stringify({ TransactItems: puts }),
    })
    if (status !== 200) throw new Error(`The table refused to be filled: ${body}`)
  }
}

function itemOf(index: number): object {
  const other = Math.floor(index / 4)
  const run = `RUN#other${other}`
  switch (index % 4) {
    case 0: {
      const listedAt = new Date(Math.floor(other / RUNS_A_DAY) * DAY_MS).toISOString()
      return item(run, 'RUN', { state: 'ended', listedPk: `DAY#${listedAt.slice(0, 10)}`, listedAt })
    }
    case 1:
      return item(`PR#${other}#1`, 'THREAD', { head: 'other' })
    default:
      return item(run, `REVIEW#plan#correctness#${index % 4}`, { state: 'completed' })
  }
}

function item(pk: string, sk: string, members: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries({ pk, sk, ...members }).map(([name, value]) => [name, { S: value }]))
}
