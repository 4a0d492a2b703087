/** A process with a local DynamoDB, for tests that kill it: prints one line of JSON, its URL or why it can't start. */
import { startDynamoDb } from '../../../../infra/local/dynamodb/dynamodb.ts'
import { StateError } from '../../../../infra/local/dynamodb/errors.ts'

const [directory = ''] = process.argv.slice(2)
try {
  const { url } = await startDynamoDb({ directory })
  console.log(JSON.stringify({ url }))
} catch (error) {
  if (!(error instanceof StateError)) throw error
  console.log(JSON.stringify({ code: error.code, message: error.message }))
}
