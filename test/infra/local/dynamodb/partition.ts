/** A part of the contract's table for one test alone, and the common commands. */
import { randomUUID } from 'node:crypto'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]
type Attributes = Readonly<Record<string, unknown>>

export type Partition = ReturnType<typeof newPartition>

/** Takes an unused partition. */
export function newPartition(client: DynamoDBClient, table: string) {
  const documents = DynamoDBDocumentClient.from(client)
  const pk = `TEST#${randomUUID()}`
  const keyOf = (sk: string) => ({ TableName: table, Key: { pk, sk } })
  const isAbsent = { ConditionExpression: 'attribute_not_exists(pk)' }
  return {
    client,
    documents,
    table,
    pk,
    put: (sk: string, attributes: Attributes = {}) =>
      documents.send(new PutCommand({ TableName: table, Item: { pk, sk, ...attributes } })),
    read: async (sk: string) => (await documents.send(new GetCommand({ ...keyOf(sk), ConsistentRead: true }))).Item,
    transact: (TransactItems: TransactItem[], ClientRequestToken?: string) =>
      documents.send(new TransactWriteCommand({ TransactItems, ...(ClientRequestToken && { ClientRequestToken }) })),
    putNew: (sk: string, attributes: Attributes = {}): TransactItem => {
      const Item = { pk, sk, ...attributes }
      return { Put: { TableName: table, Item, ...isAbsent, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } }
    },
    checkAbsent: (sk: string): TransactItem => ({ ConditionCheck: { ...keyOf(sk), ...isAbsent } }),
    setNumber: (sk: string, n: number): TransactItem => {
      const values = { ExpressionAttributeNames: { '#n': 'n' }, ExpressionAttributeValues: { ':n': n } }
      return { Update: { ...keyOf(sk), UpdateExpression: 'SET #n = :n', ...values } }
    },
    /** The entries of the index `due` in `shard` up to a time. */
    dueIn: async (shard: string, until: number) => {
      const KeyConditionExpression = 'dueShard = :shard AND dueAt <= :until'
      const ExpressionAttributeValues = { ':shard': shard, ':until': until }
      const query = { TableName: table, IndexName: 'due', KeyConditionExpression, ExpressionAttributeValues }
      return (await documents.send(new QueryCommand(query))).Items
    },
  }
}
