/** The local DynamoDB: the contract in memory and on disk, and its own guarantees. */
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDynamoDb } from '../../../../infra/local/dynamodb/dynamodb.ts'
import { clientFor } from './client.ts'
import { type ContractSubject, dynamoDbContract } from './contract.ts'

dynamoDbContract('the local DynamoDB in memory', () => startSubject())

const contractDirectory = join(tmpdir(), `muster-dynamodb-contract-${process.pid}`)
dynamoDbContract('the local DynamoDB on disk', async () => {
  const subject = await startSubject(contractDirectory)
  return {
    client: subject.client,
    async close() {
      await subject.close()
      await rm(contractDirectory, { recursive: true })
    },
  }
})

async function startSubject(directory?: string): Promise<ContractSubject> {
  const service = await startDynamoDb(directory === undefined ? {} : { directory })
  const client = clientFor(service.url)
  return {
    client,
    async close() {
      client.destroy()
      await service.close()
    },
  }
}
