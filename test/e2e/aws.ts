/** Muster's state for tests, past all of Muster's code: the table's items, executions and queues through the SDKs. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  type ExecutionListItem,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  SFNClient,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { LocalStack } from '../../infra/local/stack.ts'

export type Item = Readonly<Record<string, unknown>>

export interface Aws {
  item(pk: string, sk: string): Promise<Item | undefined>
  /** All items of a partition, in order. */
  items(pk: string, prefix?: string): Promise<Item[]>
  /** Every item of the table. */
  scan(): Promise<Item[]>
  put(item: Item): Promise<void>
  set(pk: string, sk: string, members: Item): Promise<void>
  remove(pk: string, sk: string): Promise<void>
  executions(): Promise<ExecutionListItem[]>
  history(executionArn: string): Promise<HistoryEvent[]>
  stopExecution(executionArn: string): Promise<void>
  /** Messages in a queue, visible or in flight. */
  messagesIn(queueName: string): Promise<number>
  close(): void
}

/** Opens clients for a running stack. */
export function openAws({ endpoints, assembly }: LocalStack): Aws {
  const client = {
    region: assembly.account.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  }
  const at = (name: string) => ({ ...client, endpoint: endpoints[name] ?? '' })
  const dynamo = DynamoDBDocumentClient.from(new DynamoDBClient(at('AWS_ENDPOINT_URL_DYNAMODB')))
  const sfn = new SFNClient(at('AWS_ENDPOINT_URL_SFN'))
  const sqs = new SQSClient(at('AWS_ENDPOINT_URL_SQS'))
  const TableName = assembly.table.name
  const stateMachineArn = assembly.stateMachines[0]?.arn ?? ''
  return {
    async item(pk, sk) {
      const { Item } = await dynamo.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }))
      return Item
    },
    async items(pk, prefix = '') {
      const { Items = [] } = await dynamo.send(
        new QueryCommand({
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: prefix === '' ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: prefix === '' ? { ':pk': pk } : { ':pk': pk, ':prefix': prefix },
        }),
      )
      return Items
    },
    async scan() {
      const items: Item[] = []
      for (let from: Item | undefined, first = true; first || from; first = false) {
        const page = await dynamo.send(
          new ScanCommand({ TableName, ConsistentRead: true, ...(from ? { ExclusiveStartKey: from } : {}) }),
        )
        items.push(...(page.Items ?? []))
        from = page.LastEvaluatedKey
      }
      return items
    },
    async put(item) {
      await dynamo.send(new PutCommand({ TableName, Item: { ...item } }))
    },
    async set(pk, sk, members) {
      const names = Object.keys(members)
      await dynamo.send(
        new UpdateCommand({
          TableName,
          Key: { pk, sk },
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, members[name]])),
          ConditionExpression: 'attribute_exists(pk)',
        }),
      )
    },
    async remove(pk, sk) {
      await dynamo.send(new DeleteCommand({ TableName, Key: { pk, sk } }))
    },
    async executions() {
      const { executions = [] } = await sfn.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1_000 }))
      return executions
    },
    async history(executionArn) {
      const { events = [] } = await sfn.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }))
      return events
    },
    async stopExecution(executionArn) {
      await sfn.send(new StopExecutionCommand({ executionArn, cause: 'stopped by a test' }))
    },
    async messagesIn(queueName) {
      const { QueueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: queueName }))
      const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))
      return (
        Number(Attributes.ApproximateNumberOfMessages ?? 0) +
        Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
      )
    },
    close() {
      dynamo.destroy()
      sfn.destroy()
      sqs.destroy()
    },
  }
}
