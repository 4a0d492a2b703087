/** The whole visible state at one moment: GitHub, the ledger's items, running executions. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn'
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb'
import type { PullRequestSnapshot } from '../../infra/local/github/snapshot.ts'
import type { LocalStack } from '../../infra/local/stack.ts'

/** An item of the ledger, without the members that no check reads. */
export type LedgerItem = Readonly<Record<string, unknown>> & { readonly pk: string; readonly sk: string }

/** A webhook with the answer to its last attempt; null without an answer. */
export interface DeliverySeen {
  readonly guid: string
  readonly number: number
  readonly action: string
  readonly status: number | null
  readonly ended: boolean
}

export interface SystemSnapshot {
  readonly pullRequests: readonly PullRequestSnapshot[]
  readonly items: readonly LedgerItem[]
  readonly deliveries: readonly DeliverySeen[]
  /** Names of running executions. */
  readonly executions: readonly string[]
}

export const REPOSITORY = { owner: 'acme', name: 'parcels' } as const
export const REPOSITORY_NAME = `${REPOSITORY.owner}/${REPOSITORY.name}`

export interface SnapshotTaker {
  take(): Promise<SystemSnapshot>
}

/** Opens the clients for snapshots; a snapshot changes nothing. */
export function openSnapshotTaker(stack: LocalStack): SnapshotTaker {
  const { region } = stack.assembly.account
  const client = { region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  const endpoint = (name: string) => stack.endpoints[name] as string
  const table = DynamoDBDocumentClient.from(
    new DynamoDBClient({ ...client, endpoint: endpoint('AWS_ENDPOINT_URL_DYNAMODB') }),
  )
  const executions = new SFNClient({ ...client, endpoint: endpoint('AWS_ENDPOINT_URL_SFN') })
  const [machine] = stack.assembly.stateMachines
  return {
    async take() {
      const items: LedgerItem[] = []
      for await (const page of paginateScan(
        { client: table },
        { TableName: stack.assembly.table.name, ConsistentRead: true },
      )) {
        items.push(...((page.Items ?? []) as LedgerItem[]))
      }
      const running = await executions.send(
        new ListExecutionsCommand({ stateMachineArn: machine?.arn, statusFilter: 'RUNNING' }),
      )
      return {
        pullRequests: pullRequestsOf(stack),
        items,
        deliveries: deliveriesOf(stack),
        executions: (running.executions ?? []).map(({ name }) => name ?? ''),
      }
    },
  }
}

/** Every pull request; their numbers have no gap. */
export function pullRequestsOf({ github }: LocalStack): PullRequestSnapshot[] {
  const found: PullRequestSnapshot[] = []
  for (let number = 1; ; number += 1) {
    try {
      if (github) found.push(github.pullRequest(REPOSITORY_NAME, number))
      else return found
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('unknown_pull_request')) return found
      throw error
    }
  }
}

/** The newest attempt of each delivery, oldest delivery first. */
function deliveriesOf({ github }: LocalStack): DeliverySeen[] {
  const newest = new Map<string, DeliverySeen>()
  for (const { guid, number, action, result } of github?.deliveries() ?? []) {
    newest.set(guid, { guid, number, action, status: result?.status ?? null, ended: result !== null })
  }
  return [...newest.values()]
}
