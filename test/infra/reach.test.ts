/** The permissions that CDK synthesizes, against the reach table: a room can touch what the table says, and nothing more. */
import { beforeAll, describe, expect, test } from 'vitest'
import { reach } from '../../infra/reach.ts'
import { type RoomName, roomNames } from '../../infra/rooms.ts'
import { ofType, referenced, type SynthesizedTemplate, synthesizeTemplate } from './synthesized.ts'

let template: SynthesizedTemplate

beforeAll(async () => {
  template = await synthesizeTemplate()
})

interface Statement {
  readonly Effect: string
  readonly Action: string | string[]
  readonly Resource: unknown
}

/** `<action> on <resource>` for everything that the role of a room is allowed. */
function allowed(room: RoomName): string[] {
  const policies = ofType(template, 'AWS::IAM::Policy').filter(([, { Properties }]) =>
    (Properties.Roles as unknown[]).some((role) => nameOf(referenced(role)) === `${capitalized(room)}Role`),
  )
  return policies
    .flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement)
    .flatMap(({ Effect, Action, Resource }) => {
      expect(Effect).toBe('Allow')
      return [Action]
        .flat()
        .flatMap((action) => [Resource].flat().map((resource) => `${action} on ${textOf(resource)}`))
    })
    .sort()
}

/** What the reach table says, in the same words. */
function expected(room: RoomName): string[] {
  const { finds, documents, sends, receives, executions, answers, secrets } = reach[room]
  const queues = { inbox: 'InboxQueue', outbox: 'OutboxQueue' }
  const secretNames = { 'github-app': 'GithubAppSecret', models: 'ModelsSecret' }
  const ledger = ['BatchGetItem', 'ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem']
  const received = ['ReceiveMessage', 'ChangeMessageVisibility', 'GetQueueUrl', 'DeleteMessage', 'GetQueueAttributes']
  const machine = [
    ...(executions.includes('starts') ? ['StartExecution'] : []),
    ...(answers ? ['SendTaskSuccess', 'SendTaskFailure'] : []),
  ]
  const ofExecutions = [
    ...(executions.includes('describes') ? ['DescribeExecution'] : []),
    ...(executions.includes('stops') ? ['StopExecution'] : []),
  ]
  return [
    ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on ${capitalized(room)}Log`),
    ...['PutTelemetryRecords', 'PutTraceSegments'].map((action) => `xray:${action} on *`),
    ...ledger.map((action) => `dynamodb:${action} on LedgerTable`),
    ...(finds ? ['dynamodb:Query on LedgerTable/index/due'] : []),
    ...(documents === 'none' ? [] : ['s3:ListBucket on DocumentsBucket', 's3:GetObject on DocumentsBucket/*']),
    ...(documents === 'writes' ? ['s3:PutObject on DocumentsBucket/*'] : []),
    ...sends.map((queue) => `sqs:SendMessage on ${queues[queue]}`),
    ...(receives === 'none' ? [] : received.map((action) => `sqs:${action} on ${queues[receives]}`)),
    ...machine.map((action) => `states:${action} on RunMachine`),
    ...ofExecutions.map(
      (action) => `states:${action} on arn:AWS::Partition:states:AWS::Region:AWS::AccountId:execution:RunMachine:*`,
    ),
    ...secrets.map((secret) => `secretsmanager:GetSecretValue on ${secretNames[secret]}`),
  ].sort()
}

/** A resource of a statement as text, references as the names of what they refer to. */
function textOf(resource: unknown): string {
  if (typeof resource === 'string') return resource
  const joined = (resource as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']
  if (joined !== undefined) return joined[1].map(textOf).join(joined[0])
  return nameOf(referenced(resource))
}

/** A logical id without the hash at its end. */
function nameOf(logicalId: string | undefined): string {
  return (logicalId ?? '').replace(/[0-9A-F]{8}$/, '')
}

function capitalized(room: string): string {
  return room.charAt(0).toUpperCase() + room.slice(1)
}

describe('permissions', () => {
  test.each(roomNames)('%s may do what the reach table says, and nothing more', (room) => {
    expect(allowed(room)).toEqual(expected(room))
  })

  test('no role has a managed policy, which would allow more than is seen here', () => {
    for (const [logicalId, { Properties }] of ofType(template, 'AWS::IAM::Role')) {
      expect(Properties.ManagedPolicyArns, logicalId).toBeUndefined()
      expect(Properties.Policies, logicalId).toBeUndefined()
    }
  })

  test('the machine may invoke its four rooms, write its log and trace', () => {
    const machineStatements = ofType(template, 'AWS::IAM::Policy')
      .filter(([logicalId]) => logicalId.startsWith('RunMachineRole'))
      .flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement)
    const invocations = machineStatements.filter(({ Action }) => [Action].flat().includes('lambda:InvokeFunction'))
    expect(invocations.flatMap(({ Resource }) => [Resource].flat().map(textOf)).sort()).toEqual([
      'AdmitFunction',
      'ConcludeFunction',
      'PlanFunction',
      'ReviewFunction',
    ])
    const services = machineStatements.flatMap(({ Action }) => [Action].flat().map((action) => action.split(':')[0]))
    expect([...new Set(services)].sort()).toEqual(['lambda', 'logs', 'xray'])
  })

  test('a room is given the names of what it reaches, and no other', () => {
    for (const [, { Properties }] of ofType(template, 'AWS::Lambda::Function')) {
      const { Variables } = Properties.Environment as { Variables: Record<string, unknown> }
      const room = Variables.POWERTOOLS_SERVICE_NAME as RoomName
      const { documents, sends, executions, secrets } = reach[room]
      expect(Object.keys(Variables).sort(), room).toEqual(
        [
          ...['POWERTOOLS_METRICS_NAMESPACE', 'POWERTOOLS_SERVICE_NAME', 'TABLE_NAME'],
          ...(documents === 'none' ? [] : ['DOCUMENTS_BUCKET']),
          ...(sends.includes('inbox') ? ['INBOX_URL'] : []),
          ...(sends.includes('outbox') ? ['OUTBOX_URL'] : []),
          ...(executions.includes('starts') ? ['STATE_MACHINE_ARN'] : []),
          ...(secrets.includes('github-app') ? ['GITHUB_APP_SECRET_ID', 'GITHUB_API_URL'] : []),
          ...(secrets.includes('models') ? ['MODELS_SECRET_ID'] : []),
        ].sort(),
      )
    }
  })
})
