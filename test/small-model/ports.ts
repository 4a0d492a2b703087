/** The clients of the ledger and the coordinator, as ports of a program. */

import type { SweepDeps } from '../../functions/sweep/deps.ts'
import type { Executions } from '../../shared/aws/executions.ts'
import { timingsOf } from '../../shared/fleet/timings.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { Ports } from './program.ts'
import { requestOf, type TableRequest } from './snapshot.ts'

/**
 * A sweeper's dependencies. The model has only the table and Step Functions' answers; every other dependency rejects.
 */
export function coordinatorOf(ports: Ports): SweepDeps {
  const client = {
    send(command: object) {
      const request = requestOf(command)
      return ports.ask({ kind: 'table', request, label: labelOf(request) })
    },
  }
  const steps = {
    send({ input }: { input: { taskToken?: string; output?: string } }) {
      return ports.ask({ kind: 'token', request: input, label: `tells ${input.taskToken} ${input.output}` })
    },
  }
  const outside = { client: { send: () => Promise.reject(new Error('out of the model')) } }
  return {
    ledger: { client, table: 'ledger', timings: timingsOf() } as unknown as Ledger,
    executions: { client: steps } as unknown as Executions,
    now: ports.now,
    nonce: ports.nonce,
    documents: outside as unknown as SweepDeps['documents'],
    outbox: outside as unknown as SweepDeps['outbox'],
    inbox: outside as unknown as SweepDeps['inbox'],
    stateMachineArn: 'arn',
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  }
}

function labelOf({ operation, input }: TableRequest): string {
  const key = (input.Key ?? input.Item ?? {}) as { pk?: string; sk?: string }
  const what = key.sk ?? JSON.stringify(input.ExpressionAttributeValues)
  const how = [input.UpdateExpression, input.ConditionExpression].filter((text) => text !== undefined).join(' if ')
  return `${operation} ${what} ${how}`
}
