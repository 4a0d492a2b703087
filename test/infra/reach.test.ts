/** The synthesized permissions against the reach table: a room reaches exactly the resources of the table. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Metafile } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundleRooms, readMetafile, repositoryRoot } from '../../infra/bundle.ts'
import { type Access, type LedgerUse, reach } from '../../infra/reach.ts'
import { type RoomName, roomNames } from '../../infra/rooms.ts'
import { sourcesBelow } from '../law/sources.ts'
import { ofType, referenced, type SynthesizedTemplate, synthesizeTemplate } from './synthesized.ts'

let template: SynthesizedTemplate

beforeAll(async () => {
  template = await synthesizeTemplate({
    'muster:modelDefault': 'a-model',
    'muster:modelBaseUrl': 'https://models.example',
  })
})

interface Statement {
  readonly Effect: string
  readonly Action: string | string[]
  readonly Resource: unknown
}

/** `<action> on <resource>` for every permission of a room's role. */
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

const itemActions: Readonly<Record<LedgerUse, readonly string[]>> = {
  reads: ['GetItem', 'Query'],
  creates: ['PutItem'],
  changes: ['UpdateItem'],
  deletes: ['DeleteItem'],
  checks: ['ConditionCheckItem'],
}

/** The reach table, in the same notation. */
function expected(room: RoomName): string[] {
  const { ledger, finds, documents, sends, receives, executions, answers, secrets } = reach[room]
  const queues = { inbox: 'InboxQueue', outbox: 'OutboxQueue' }
  const secretNames = { 'github-app': 'GithubAppSecret', models: 'ModelsSecret' }
  const received = ['ReceiveMessage', 'ChangeMessageVisibility', 'GetQueueUrl', 'DeleteMessage', 'GetQueueAttributes']
  const machine = [
    ...(executions.includes('starts') ? ['StartExecution'] : []),
    ...(answers ? ['SendTaskSuccess'] : []),
  ]
  const ofExecutions = [
    ...(executions.includes('describes') ? ['DescribeExecution'] : []),
    ...(executions.includes('stops') ? ['StopExecution'] : []),
  ]
  return [
    ...['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on ${capitalized(room)}Log`),
    ...['PutTelemetryRecords', 'PutTraceSegments'].map((action) => `xray:${action} on *`),
    ...ledger.flatMap((use) => itemActions[use]).map((action) => `dynamodb:${action} on LedgerTable`),
    ...(finds ? ['dynamodb:Query on LedgerTable/index/due'] : []),
    ...(documents.includes('reads') ? ['s3:ListBucket on DocumentsBucket', 's3:GetObject on DocumentsBucket/*'] : []),
    ...(documents.includes('writes') ? ['s3:PutObject on DocumentsBucket/*'] : []),
    ...sends.map((queue) => `sqs:SendMessage on ${queues[queue]}`),
    ...(receives === 'none' ? [] : received.map((action) => `sqs:${action} on ${queues[receives]}`)),
    ...machine.map((action) => `states:${action} on RunMachine`),
    ...ofExecutions.map(
      (action) => `states:${action} on arn:AWS::Partition:states:AWS::Region:AWS::AccountId:execution:RunMachine:*`,
    ),
    ...secrets.map((secret) => `secretsmanager:GetSecretValue on ${secretNames[secret]}`),
  ].sort()
}

/** A resource of a statement as text, with a reference as the name of its target. */
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

describe('the table', () => {
  test.each(roomNames)('%s has a reason for exactly the accesses of the table', (room) => {
    const { why, ...accesses } = reach[room]
    const has = (Object.keys(accesses) as Access[]).filter((access) => isSome(accesses[access]))
    expect(Object.keys(why).sort()).toEqual(has.sort())
    for (const [access, sentence] of Object.entries(why)) expect(sentence, access).toMatch(/^[A-Z].{20,}\.$/)
  })

  test('the rooms with access to GitHub’s writes, a model or a secret are named here: each change is deliberate', () => {
    const who = (has: (room: RoomName) => boolean) => roomNames.filter(has)
    expect(who((room) => reach[room].github)).toEqual(['command', 'plan', 'post'])
    expect(who((room) => reach[room].secrets.includes('github-app'))).toEqual(['webhook', 'command', 'plan', 'post'])
    expect(who((room) => reach[room].secrets.includes('models'))).toEqual(['review'])
    expect(who((room) => reach[room].finds)).toEqual(['sweep'])
  })
})

describe('permissions', () => {
  test.each(roomNames)('%s has exactly the permissions of the reach table', (room) => {
    expect(allowed(room)).toEqual(expected(room))
  })

  test('no role has a managed policy, which would allow more than the template shows', () => {
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
})

describe('the code', () => {
  let metafiles: ReadonlyMap<RoomName, Metafile>

  beforeAll(async () => {
    const outputDirectory = mkdtempSync(path.join(tmpdir(), 'muster-reach-'))
    try {
      await bundleRooms({ roomsDirectory: path.join(repositoryRoot, 'functions'), outputDirectory })
      const read = roomNames.map(async (room) => [room, await readMetafile(outputDirectory, room)] as const)
      metafiles = new Map(await Promise.all(read))
    } finally {
      rmSync(outputDirectory, { recursive: true, force: true })
    }
  })

  test.each(roomNames)('%s calls exactly the permitted actions', (room) => {
    expect(calledBy(metafiles.get(room))).toEqual(
      [...new Set(allowed(room).map(actionOf))].filter((action) => !isCalledByAws(action)).sort(),
    )
  })

  test.each(roomNames)('%s uses the ledger exactly as permitted', (room) => {
    const { always, inTransactions } = usesOfLedger(metafiles.get(room))
    const allowedUses = reach[room].ledger
    expect(allowedUses).toEqual(expect.arrayContaining(always))
    for (const use of allowedUses) expect([...always, ...inTransactions]).toContain(use)
  })

  test.each(roomNames)('%s gets exactly the environment variables that its code reads', (room) => {
    const { Variables } = ofType(template, 'AWS::Lambda::Function')
      .map(([, { Properties }]) => Properties.Environment as { Variables: Record<string, unknown> })
      .find(({ Variables }) => Variables.POWERTOOLS_SERVICE_NAME === room) ?? { Variables: {} }
    const given = Object.keys(Variables).filter((name) => !name.startsWith('POWERTOOLS_'))
    const read = sourcesBelow(repositoryRoot, [`functions/${room}`]).flatMap(({ text }) =>
      [...text.matchAll(/[eE]nvironment\('([A-Z_]+)'\)/g)].map(([, name = '']) => name),
    )
    expect(given.sort()).toEqual([...new Set(read)].sort())
  })
})

/** The S3 client carries this action for directory buckets, which the stack doesn't have. */
const sdkOwnAction = 's3:CreateSession'

/** The ledger uses of a room's code; a transaction may create items, which its command alone doesn't show. */
function usesOfLedger(metafile: Metafile | undefined): { always: LedgerUse[]; inTransactions: LedgerUse[] } {
  const uses: Readonly<Record<string, readonly LedgerUse[]>> = {
    Get: ['reads'],
    Query: ['reads'],
    Put: ['creates'],
    Update: ['changes'],
    Delete: ['deletes'],
    TransactWrite: ['changes', 'checks'],
  }
  // The library's own paginator of scans is in every bundle; no room may scan.
  const commands = commandsIn(metafile)
    .filter(([client, command]) => client === 'lib-dynamodb' && command !== 'Scan')
    .map(([, command]) => command)
  const unknown = commands.filter((command) => uses[command] === undefined)
  expect(unknown, 'commands that this test has no use for').toEqual([])
  return {
    always: [...new Set(commands.flatMap((command) => uses[command] ?? []))],
    inTransactions: commands.includes('TransactWrite') ? ['creates'] : [],
  }
}

/** Package and name of every SDK command in a bundle. */
function commandsIn(metafile: Metafile | undefined): (readonly [library: string, command: string])[] {
  const inputs = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.entries(inputs))
  return inputs.flatMap(([file, { bytesInOutput }]) => {
    const [, library, command] = /@aws-sdk\/([^/]+)\/.*\/commands\/(\w+)Command\.js$/.exec(file) ?? []
    return bytesInOutput > 0 && library !== undefined && command !== undefined ? [[library, command] as const] : []
  })
}

/** The IAM action of every SDK command in a bundle, without the ledger's actions and the SDK's own. */
function calledBy(metafile: Metafile | undefined): string[] {
  const services: Readonly<Record<string, string>> = {
    'client-s3': 's3',
    'client-sqs': 'sqs',
    'client-sfn': 'states',
    'client-secrets-manager': 'secretsmanager',
  }
  const actions = commandsIn(metafile).flatMap(([library, command]) => {
    const service = services[library]
    const action = `${service}:${command}`
    return service !== undefined && action !== sdkOwnAction ? [action] : []
  })
  return [...new Set(actions)].sort()
}

function actionOf(allowance: string): string {
  return allowance.split(' ')[0] ?? ''
}

/** Actions of AWS on behalf of the room, without an SDK command: logs, traces, the queue's polling, S3's 404. */
function isCalledByAws(action: string): boolean {
  const polling = ['ReceiveMessage', 'ChangeMessageVisibility', 'GetQueueUrl', 'DeleteMessage', 'GetQueueAttributes']
  return (
    /^(logs|xray|dynamodb):/.test(action) ||
    action === 's3:ListBucket' ||
    polling.some((name) => action === `sqs:${name}`)
  )
}

function isSome(access: boolean | string | readonly string[]): boolean {
  if (typeof access === 'boolean') return access
  return typeof access === 'string' ? access !== 'none' : access.length > 0
}
