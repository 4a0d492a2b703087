/** The stack of the simulated world: names and addresses, each room's environment, and the machine. */
import { accountId, queueArn } from '../../infra/local/sqs/attributes.ts'
import { machineDefinition, machineRooms } from '../../infra/machine.ts'
import { type QueueName, reach } from '../../infra/reach.ts'
import { type RoomName, roomNames, rooms } from '../../infra/rooms.ts'
import { compileMachine } from './services/machine.ts'

/** The account of the embedded services. */
const ACCOUNT = accountId
const REGION = 'eu-central-1'

/** The host of each service. AWS hosts are addresses, because the SDK puts no bucket's name before an address. */
export const hosts = {
  table: '192.0.2.1',
  documents: '192.0.2.2',
  queues: '192.0.2.3',
  machine: '192.0.2.4',
  secrets: '192.0.2.5',
  github: 'github.simulated',
} as const

export const githubUrl = `http://${hosts.github}`
export const bucketName = 'documents'
export const machineArn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:run`
export const secretNames = { app: 'github-app', models: 'models' } as const

/** The input of CreateTable, as in infra/ledger-table.ts. */
export const createTable = {
  TableName: 'ledger',
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: keys('pk', 'sk'),
  AttributeDefinitions: [
    ...['pk', 'sk', 'duePk', 'listedPk', 'listedAt'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    { AttributeName: 'dueAt', AttributeType: 'N' },
  ],
  GlobalSecondaryIndexes: [
    { IndexName: 'due', KeySchema: keys('duePk', 'dueAt'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    { IndexName: 'listed', KeySchema: keys('listedPk', 'listedAt'), Projection: { ProjectionType: 'KEYS_ONLY' } },
  ],
} as const

export interface StackQueue {
  readonly name: string
  readonly deadLetters: string
  /** The attributes of CreateQueue. */
  readonly attributes: Readonly<Record<string, string>>
  readonly url: string
  readonly consumer: RoomName
}

/** As in infra/nudge-queue.ts: hidden for six timeouts of the consumer, dead after five receives. */
export const queues: Readonly<Record<QueueName, StackQueue>> = {
  inbox: queueOf('inbox', 'command'),
  outbox: queueOf('outbox', 'post'),
}

/** The environment of a room in this stack, as in infra/grants.ts. */
export function environmentOf(room: RoomName): Readonly<Record<string, string>> {
  const { documents, sends, secrets, github, choosesModel, executions } = reach[room]
  const isOfMachine = machineRooms.some((each) => each === room)
  return {
    TABLE_NAME: createTable.TableName,
    AWS_LAMBDA_FUNCTION_NAME: `muster-${room}`,
    ...(documents.length > 0 ? { DOCUMENTS_BUCKET: bucketName } : {}),
    ...(sends.includes('inbox') ? { INBOX_URL: queues.inbox.url } : {}),
    ...(sends.includes('outbox') ? { OUTBOX_URL: queues.outbox.url } : {}),
    ...(secrets.includes('github-app') ? { GITHUB_APP_SECRET_ID: secretNames.app } : {}),
    ...(secrets.includes('models') ? { MODELS_SECRET_ID: secretNames.models } : {}),
    ...(github ? { GITHUB_API_URL: githubUrl } : {}),
    ...(choosesModel ? { MODEL_BASE_URL: 'http://model.simulated', MODEL_DEFAULT: 'simulated' } : {}),
    ...(executions.length > 0 && !isOfMachine ? { STATE_MACHINE_ARN: machineArn } : {}),
  }
}

/** The room behind a function's ARN; the machine names rooms by ARN. */
export function roomOf(functionArn: string): RoomName {
  const room = roomNames.find((each) => functionArn === functionArnOf(each))
  if (!room) throw new Error(`There is no function ${functionArn}.`)
  return room
}

/** The deployed machine, with the functions of this stack. */
export const program = compileMachine(
  machineDefinition(
    {
      plan: functionArnOf('plan'),
      admit: functionArnOf('admit'),
      review: functionArnOf('review'),
      conclude: functionArnOf('conclude'),
    },
    'aws',
  ),
)

function functionArnOf(room: RoomName): string {
  return `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${room}`
}

function queueOf(queue: QueueName, consumer: RoomName): StackQueue {
  const name = `${queue}.fifo`
  const deadLetters = `${queue}-dead-letters.fifo`
  return {
    name,
    deadLetters,
    url: `http://${hosts.queues}/${ACCOUNT}/${name}`,
    attributes: {
      FifoQueue: 'true',
      VisibilityTimeout: String(6 * rooms[consumer].timeoutSeconds),
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(deadLetters), maxReceiveCount: 5 }),
    },
    consumer,
  }
}

function keys(hash: string, range: string) {
  return [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ]
}
