/** The simulated table: DynamoDB's contract, and what only a simulation promises. */
import { clientFor } from '../../infra/local/dynamodb/client.ts'
import { dynamoDbContract } from '../../infra/local/dynamodb/contract.ts'
import { serveSimulated } from './http.ts'
import { simulatedTable } from './table.ts'

dynamoDbContract('the simulated table', async () => {
  const service = await serveSimulated(simulatedTable({ now: Date.now }))
  const client = clientFor(service.url)
  return {
    client,
    async close() {
      client.destroy()
      await service.close()
    },
  }
})
