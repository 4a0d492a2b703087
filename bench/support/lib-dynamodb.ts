/** The peer of the webhook's bundle: a function with the table's client and nothing else, bundled the same way. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}))

/** Uses the webhook's commands, so that a bundler keeps them. */
export function handler(item: Record<string, unknown>): Promise<unknown> {
  return 'update' in item
    ? client.send(new UpdateCommand({ TableName: 'table', Key: item }))
    : client.send(new PutCommand({ TableName: 'table', Item: item }))
}
