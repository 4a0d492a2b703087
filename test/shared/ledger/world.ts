/** The ledger and the coordinator over local services, with a clock that only moves when a test moves it. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { DeleteCommand, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { startDynamoDb } from '../../../infra/local/dynamodb/dynamodb.ts'
import { startS3 } from '../../../infra/local/s3/s3.ts'
import { serve } from '../../../infra/local/service.ts'
import { startSqs } from '../../../infra/local/sqs/sqs.ts'
import { openExecutions } from '../../../shared/aws/executions.ts'
import { openQueue } from '../../../shared/aws/queue.ts'
import type { Coordinator } from '../../../shared/coordinator/coordinator.ts'
import type { EndingDeps } from '../../../shared/coordinator/ending.ts'
import { openDocuments } from '../../../shared/documents/documents.ts'
import type { FleetLimits } from '../../../shared/fleet/ceiling.ts'
import { FLEET_AT_REST } from '../../../shared/fleet/schedule.ts'
import { timingsOf } from '../../../shared/fleet/timings.ts'
import { type Item, type Key, keyOf, type Ledger, openLedger } from '../../../shared/ledger/table.ts'
import { type Front, startFront } from './front.ts'

export type { Passed } from './front.ts'

const TABLE = 'ledger'
const QUEUE = 'outbox.fifo'

/** A request that reached Step Functions. */
export interface Asked {
  readonly operation: string
  readonly body: Record<string, unknown>
}

export interface World {
  readonly ledger: Ledger
  readonly coordinator: Coordinator
  readonly ending: EndingDeps
  /** The wire between the SDK and DynamoDB. */
  readonly wire: Front
  /** What Step Functions was asked, in order. */
  readonly asked: Asked[]
  /** Answers given to task tokens, in order; a token is answered once, a second answer is dead. */
  readonly answers: { readonly token: string; readonly output: Record<string, string | number> }[]
  /** Dead tokens. */
  readonly deadTokens: Set<string>
  /** True: no execution that is asked after exists; else each is running. */
  executionsAbsent: boolean
  /** ms UTC */
  now: number
  /** Sets the fleet's limits directly on its item, as an operator's change does. */
  limit(limits: Partial<FleetLimits>): Promise<void>
  item(key: Key): Promise<Item | undefined>
  put(item: Key & Item): Promise<void>
  remove(key: Key): Promise<void>
  /** Every item of the table, oldest key first. */
  items(): Promise<Item[]>
  close(): Promise<void>
}

/** Starts everything in memory, with an empty table. The fleet's ceiling is the default until a test says otherwise. */
export async function startWorld(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-ledger-'))
  const [database, queues, objects] = await Promise.all([startDynamoDb({}), startSqs({}), startS3({ directory })])
  const wire = await startFront(database.url)
  const answers: World['answers'] = []
  const asked: Asked[] = []
  const deadTokens = new Set<string>()
  const stepFunctions = await startStepFunctionsStandIn({
    answers,
    asked,
    deadTokens,
    absent: () => world.executionsAbsent,
  })
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: wire.url,
    AWS_ENDPOINT_URL_SFN: stepFunctions.url,
    AWS_ENDPOINT_URL_SQS: queues.url,
    AWS_ENDPOINT_URL_S3: objects.url,
  })
  const ledger = openLedger(TABLE, timingsOf())
  await ledger.client.send(ledgerTable)
  const outbox = openQueue(`${queues.url}/000000000000/${QUEUE}`)
  await outbox.client.send(new CreateQueueCommand({ QueueName: QUEUE, Attributes: { FifoQueue: 'true' } }))
  wire.passed.length = 0

  const now = () => world.now
  const coordinator: Coordinator = { ledger, executions: openExecutions(), now, nonce: randomUUID }
  const world: World = {
    ledger,
    coordinator,
    ending: {
      ...coordinator,
      documents: openDocuments('documents'),
      outbox,
      stateMachineArn: 'arn:aws:states:eu-central-1:000000000000:stateMachine:run',
    },
    wire,
    asked,
    answers,
    deadTokens,
    executionsAbsent: false,
    now: Date.UTC(2026, 0, 5, 9),
    async limit(limits) {
      const fleet = (await world.item(keyOf.fleet())) ?? { ...FLEET_AT_REST }
      const version = (fleet.version as number) + 1
      await world.put({ ...fleet, ...keyOf.fleet(), limits: { ...(fleet.limits as FleetLimits), ...limits }, version })
    },
    async item(key) {
      const { Item } = await ledger.client.send(new GetCommand({ TableName: TABLE, Key: key, ConsistentRead: true }))
      return Item
    },
    async put(item) {
      await ledger.client.send(new PutCommand({ TableName: TABLE, Item: item }))
    },
    async remove(key) {
      await ledger.client.send(new DeleteCommand({ TableName: TABLE, Key: key }))
    },
    async items() {
      const { Items = [] } = await ledger.client.send(new ScanCommand({ TableName: TABLE, ConsistentRead: true }))
      return Items.toSorted((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1))
    },
    async close() {
      await Promise.all([wire, database, queues, objects, stepFunctions].map((service) => service.close()))
      await rm(directory, { recursive: true, force: true })
    },
  }
  return world
}

/** The ledger's table as the stack has it: two keys, two sparse indexes of keys only. */
const ledgerTable = new CreateTableCommand({
  TableName: TABLE,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    ...['pk', 'sk', 'duePk', 'listedPk', 'listedAt'].map(
      (AttributeName) => ({ AttributeName, AttributeType: 'S' }) as const,
    ),
    { AttributeName: 'dueAt', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [
        { AttributeName: 'duePk', KeyType: 'HASH' },
        { AttributeName: 'dueAt', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
    {
      IndexName: 'listed',
      KeySchema: [
        { AttributeName: 'listedPk', KeyType: 'HASH' },
        { AttributeName: 'listedAt', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
})

/** Stands in for Step Functions, and keeps the coordinator's requests. */
function startStepFunctionsStandIn({
  answers,
  asked,
  deadTokens,
  absent,
}: Pick<World, 'answers' | 'asked' | 'deadTokens'> & { absent: () => boolean }) {
  return serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { taskToken?: string; output?: string }
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
      asked.push({ operation, body })
      response.setHeader('content-type', 'application/x-amz-json-1.0')
      if (operation === 'DescribeExecution') {
        if (!absent()) return response.end(JSON.stringify({ status: 'RUNNING' }))
        response.statusCode = 400
        return response.end(JSON.stringify({ __type: 'ExecutionDoesNotExist', message: 'There is none.' }))
      }
      if (operation !== 'SendTaskSuccess') return response.end('{}')
      const { taskToken = '', output = '{}' } = body
      if (deadTokens.has(taskToken)) {
        response.statusCode = 400
        return response.end(JSON.stringify({ __type: 'TaskTimedOut', message: 'The task has ended.' }))
      }
      deadTokens.add(taskToken)
      answers.push({ token: taskToken, output: JSON.parse(output) as Record<string, string | number> })
      return response.end('{}')
    })
  })
}
