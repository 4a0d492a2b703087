/** The simulated table answers random requests exactly like the embedded DynamoDB. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDynamoDb } from '../../../infra/local/dynamodb/dynamodb.ts'
import type { LocalService } from '../../../infra/local/service.ts'
import { clientFor } from '../../infra/local/dynamodb/client.ts'
import { createContractTable } from '../../infra/local/dynamodb/table.ts'
import { serveSimulated } from './http.ts'
import { type SimulatedTable, simulatedTable } from './table.ts'
import { placed, requests, type TableRequest } from './table-requests.ts'

const SEED = 20_261_130
const RUNS = 250
const TABLE = 'compared'

let embedded: LocalService
let table: SimulatedTable

beforeAll(async () => {
  embedded = await startDynamoDb({})
  table = simulatedTable({ now: Date.now })
  const simulated = await serveSimulated(table)
  for (const { url } of [embedded, simulated]) {
    const client = clientFor(url)
    await createContractTable(client, TABLE)
    client.destroy()
  }
  await simulated.close()
})
afterAll(() => embedded.close())

test(`both tables give ${RUNS} partitions of random requests the same answers, refusals and items (seed ${SEED})`, async () => {
  let partitions = 0
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(requests, async (template) => {
      partitions++
      for (const request of placed(template, TABLE, `P${partitions}`)) {
        const expected = normal(request, await askEmbedded(request))
        expect(normal(request, askSimulated(request)), JSON.stringify(request)).toEqual(expected)
        const outcome = `${request.operation} ${expected.name}`
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
  for (const outcome of [
    'PutItem done',
    'PutItem ConditionalCheckFailedException',
    'UpdateItem done',
    'UpdateItem ValidationException',
    'UpdateItem ConditionalCheckFailedException',
    'DeleteItem done',
    'GetItem done',
    'Query done',
    'Query ValidationException',
    'TransactWriteItems done',
    'TransactWriteItems TransactionCanceledException',
  ]) {
    expect(seen.get(outcome) ?? 0, outcome).toBeGreaterThan(0)
  }
})

interface Answered {
  readonly status: number
  readonly body: Record<string, unknown>
}

async function askEmbedded({ operation, input }: TableRequest): Promise<Answered> {
  const answer = await fetch(embedded.url, {
    method: 'POST',
    headers: headersOf(operation),
    body: JSON.stringify(input),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

function askSimulated({ operation, input }: TableRequest): Answered {
  const headers = headersOf(operation)
  const { status, body } = table.answer({ method: 'POST', path: '/', headers, body: JSON.stringify(input) })
  return { status, body: JSON.parse(body) as Record<string, unknown> }
}

function headersOf(operation: string): Record<string, string> {
  return { 'x-amz-target': `DynamoDB_20120810.${operation}` }
}

/** Drops the texts of errors, and sorts equal rows of an index, whose order DynamoDB doesn't promise. */
function normal({ input }: TableRequest, { status, body }: Answered) {
  const { __type = '#done', message: _, Message: __, ...rest } = body
  const name = String(__type).split('#')[1] ?? ''
  if (isEmpty(rest.Attributes)) delete rest.Attributes
  if ('IndexName' in input && Array.isArray(rest.Items)) rest.Items.sort(bySortKey)
  if (Array.isArray(rest.CancellationReasons)) {
    rest.CancellationReasons = rest.CancellationReasons.map(({ Message: ___, ...reason }) => reason)
  }
  return { status, name, rest: withSortedSets(rest) }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function bySortKey(a: { sk: { S: string } }, b: { sk: { S: string } }): number {
  return a.sk.S < b.sk.S ? -1 : 1
}

/** A set has no order. */
function withSortedSets(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, part: unknown) =>
    name === 'SS' && Array.isArray(part) ? part.sort() : part,
  )
}
