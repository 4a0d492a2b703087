/** A process with a local DynamoDB, for tests with kills: prints the URL or the refusal as a line of JSON. */
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
