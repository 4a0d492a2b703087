/** Turns the reach table into permissions and into the names that a room gets. */
import { Stack } from 'aws-cdk-lib'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { Construct } from 'constructs'
import { dueIndexName } from './ledger-table.ts'
import { type LedgerUse, type QueueName, reach, type SecretName } from './reach.ts'
import type { RoomFunction } from './room-function.ts'
import type { RoomName } from './rooms.ts'
import type { Settings } from './settings.ts'

/** The resources that rooms reach, without executions. */
export interface Reachable {
  readonly table: Table
  readonly documents: Bucket
  readonly queues: Readonly<Record<QueueName, Queue>>
  readonly secrets: Readonly<Record<SecretName, Secret>>
}

/**
 * No scan; no batch write either, because a batch write carries no condition. A transaction needs the permissions of
 * its parts.
 */
const ledgerActions: Readonly<Record<LedgerUse, readonly string[]>> = {
  reads: ['dynamodb:GetItem', 'dynamodb:Query'],
  creates: ['dynamodb:PutItem'],
  changes: ['dynamodb:UpdateItem'],
  deletes: ['dynamodb:DeleteItem'],
  checks: ['dynamodb:ConditionCheckItem'],
}

const executionActions = {
  starts: 'states:StartExecution',
  describes: 'states:DescribeExecution',
  stops: 'states:StopExecution',
} as const

/**
 * The environment variables of a room: the names of the resources that the room reaches, and the deployment's settings.
 */
export function roomEnvironment(room: RoomName, resources: Reachable, settings: Settings): Record<string, string> {
  const { documents, sends, secrets, github, choosesModel } = reach[room]
  const environment: Record<string, string> = { TABLE_NAME: resources.table.tableName }
  if (settings.leaseSeconds !== undefined) environment.LEASE_SECONDS = String(settings.leaseSeconds)
  if (settings.heartbeatSeconds !== undefined) environment.HEARTBEAT_SECONDS = String(settings.heartbeatSeconds)
  if (settings.patienceMinutes !== undefined) environment.PATIENCE_MINUTES = String(settings.patienceMinutes)
  if (documents.length > 0) environment.DOCUMENTS_BUCKET = resources.documents.bucketName
  if (sends.includes('inbox')) environment.INBOX_URL = resources.queues.inbox.queueUrl
  if (sends.includes('outbox')) environment.OUTBOX_URL = resources.queues.outbox.queueUrl
  if (secrets.includes('github-app')) environment.GITHUB_APP_SECRET_ID = resources.secrets['github-app'].secretArn
  if (secrets.includes('models')) environment.MODELS_SECRET_ID = resources.secrets.models.secretArn
  if (github) environment.GITHUB_API_URL = settings.githubApiUrl
  if (choosesModel && settings.modelDefault !== undefined) environment.MODEL_DEFAULT = settings.modelDefault
  if (choosesModel && settings.modelBaseUrl !== undefined) environment.MODEL_BASE_URL = settings.modelBaseUrl
  return environment
}

/** Grants a room its reach on the table, documents, queues and secrets. */
export function grantResources(room: RoomName, { function: lambda }: RoomFunction, resources: Reachable): void {
  const { ledger, finds, documents, sends, secrets } = reach[room]
  const allow = (actions: string[], arns: string[]) =>
    lambda.addToRolePolicy(new PolicyStatement({ actions, resources: arns }))

  const onItems = ledger.flatMap((use) => ledgerActions[use])
  allow(onItems, [resources.table.tableArn])
  if (finds) allow(['dynamodb:Query'], [`${resources.table.tableArn}/index/${dueIndexName}`])
  if (documents.includes('reads')) {
    allow(['s3:GetObject'], [resources.documents.arnForObjects('*')])
    // Without `s3:ListBucket` S3 answers 403 for an absent object, and "absent" looks like "forbidden".
    allow(['s3:ListBucket'], [resources.documents.bucketArn])
  }
  if (documents.includes('writes')) allow(['s3:PutObject'], [resources.documents.arnForObjects('*')])
  for (const name of sends) allow(['sqs:SendMessage'], [resources.queues[name].queueArn])
  for (const name of secrets) allow(['secretsmanager:GetSecretValue'], [resources.secrets[name].secretArn])
}

/**
 * Grants a room its reach on executions and task tokens.
 * The grant is a policy outside of the function: the machine depends on the functions that it invokes, and a function
 * depends on its role's default policy. The machine's ARN in that policy would close a circle.
 */
export function grantExecutions(
  scope: Construct,
  room: RoomName,
  roomFunction: RoomFunction,
  machine: StateMachine,
): void {
  const { executions, answers } = reach[room]
  const statements: PolicyStatement[] = []
  const onMachine = executions.filter((what) => what === 'starts').map((what) => executionActions[what] as string)
  if (answers) onMachine.push('states:SendTaskSuccess')
  if (onMachine.length > 0) {
    statements.push(new PolicyStatement({ actions: onMachine, resources: [machine.stateMachineArn] }))
  }
  const onExecutions = executions.filter((what) => what !== 'starts').map((what) => executionActions[what])
  if (onExecutions.length > 0) {
    statements.push(new PolicyStatement({ actions: onExecutions, resources: [executionsOf(machine)] }))
  }
  if (statements.length > 0)
    new Policy(scope, `${roomFunction.node.id}Executions`, { roles: [roomFunction.role], statements })
}

/** Every execution of the machine: execution names are known only once the executions are started. */
function executionsOf(machine: StateMachine): string {
  return Stack.of(machine).formatArn({
    service: 'states',
    resource: `execution:${machine.stateMachineName}:*`,
  })
}
