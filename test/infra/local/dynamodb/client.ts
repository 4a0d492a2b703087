/** The SDK's client for a service on loopback. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** A client without retries: a lost answer is for the test. */
export function clientFor(url: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint: url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
}
