/** The stack as plain data for one machine: its contents, and a second start without a synth. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Assembly, loadAssembly } from '../../../infra/local/assembly.ts'
import { roomNames, rooms } from '../../../infra/rooms.ts'

/** ms; a synth takes seconds, and far more on a busy machine. */
const synthTimeoutMs = 180_000

let folder: string
let roomsDirectory: string
let cacheDirectory: string
let assembly: Assembly

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-assembly-'))
  roomsDirectory = path.join(folder, 'rooms')
  cacheDirectory = path.join(folder, 'cache')
  for (const room of roomNames) writeRoom(room, 'first')
  assembly = await loadAssembly({ cacheDirectory, roomsDirectory })
}, synthTimeoutMs)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writeRoom(room: string, answer: string): void {
  mkdirSync(path.join(roomsDirectory, room), { recursive: true })
  writeFileSync(path.join(roomsDirectory, room, 'handler.ts'), `export const handler = async () => '${room} ${answer}'`)
}

function kept(): string[] {
  return readdirSync(cacheDirectory).sort()
}

function functionOf(name: string, of = assembly) {
  const found = of.functions.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no function ${name}`)
  return found
}

describe('the contents', () => {
  test('each room has a function with a bundle that runs', async () => {
    expect(assembly.functions.map(({ name }) => name)).toEqual([...roomNames])
    for (const { name, bundle, handler } of assembly.functions) {
      expect(handler).toBe('index.handler')
      const module = await import(pathToFileURL(path.join(bundle, 'index.mjs')).href)
      expect(await module.handler()).toBe(`${name} first`)
    }
    expect(existsSync(path.join(functionOf('review').bundle, 'main.wasm'))).toBe(true)
  })

  test('a function has an environment with concrete names, a timeout and memory', () => {
    expect(functionOf('sweep')).toMatchObject({
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:sweep',
      timeoutMs: rooms.sweep.timeoutSeconds * 1_000,
      environment: {
        TABLE_NAME: 'ledger',
        DOCUMENTS_BUCKET: 'documents',
        INBOX_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/inbox.fifo',
        OUTBOX_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/outbox.fifo',
        STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:run',
      },
    })
    expect(functionOf('webhook').environment.GITHUB_APP_SECRET_ID).toBe('github-app')
    expect(functionOf('review').environment.MODELS_SECRET_ID).toBe('models')
  })

  test('the table can be created from the plain data', () => {
    expect(assembly.table).toMatchObject({
      name: 'ledger',
      createTable: {
        TableName: 'ledger',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [{ IndexName: 'due' }, { IndexName: 'listed' }],
      },
    })
  })

  test('the queues follow their dead-letter queues, with attributes in SQS’s form', () => {
    expect(assembly.queues.map(({ name }) => name)).toEqual([
      'inbox-dead-letters.fifo',
      'outbox-dead-letters.fifo',
      'inbox.fifo',
      'outbox.fifo',
    ])
    const inbox = assembly.queues.find(({ name }) => name === 'inbox.fifo')
    expect(inbox?.arn).toBe('arn:aws:sqs:us-east-1:000000000000:inbox.fifo')
    expect(inbox?.attributes).toMatchObject({ FifoQueue: 'true', VisibilityTimeout: '360' })
    expect(JSON.parse(inbox?.attributes.RedrivePolicy ?? '')).toEqual({
      deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:inbox-dead-letters.fifo',
      maxReceiveCount: 5,
    })
  })

  test('queues, routes and schedules lead to functions by name', () => {
    expect(assembly.eventSources).toEqual([
      { queue: 'inbox.fifo', function: 'command', batchSize: 1, maxConcurrency: 10, reportBatchItemFailures: true },
      { queue: 'outbox.fifo', function: 'post', batchSize: 1, maxConcurrency: 10, reportBatchItemFailures: true },
    ])
    expect(assembly.routes).toEqual([
      { method: 'POST', path: '/github/webhook', function: 'webhook' },
      ...[
        'GET /runs/{runId}',
        'POST /runs/{runId}/cancel',
        'POST /runs/{runId}/retry',
        'GET /fleet',
        'PATCH /fleet/limits',
        'GET /halts/{scope+}',
        'PUT /halts/{scope+}',
        'DELETE /halts/{scope+}',
      ].map((route) => {
        const [method, path] = route.split(' ')
        return { method, path, function: 'api' }
      }),
    ])
    expect(assembly.schedules).toEqual([{ intervalMs: 60_000, function: 'sweep' }])
    expect(assembly.secrets).toEqual([{ name: 'github-app' }, { name: 'models' }])
  })

  test('the state machine is the synthesized one, with concrete functions', () => {
    expect(assembly.stateMachines).toHaveLength(1)
    const [machine] = assembly.stateMachines
    expect(machine?.arn).toBe('arn:aws:states:us-east-1:000000000000:stateMachine:run')
    expect(machine?.definition).toMatchObject({
      StartAt: 'Plan',
      States: {
        Plan: {
          Resource: 'arn:aws:states:::lambda:invoke',
          Parameters: { FunctionName: 'arn:aws:lambda:us-east-1:000000000000:function:plan' },
        },
      },
    })
    expect(JSON.stringify(machine?.definition)).not.toContain('${')
  })
})

describe('the cost', { timeout: synthTimeoutMs }, () => {
  test('a second start reads the kept assembly and synthesizes nothing', async () => {
    const before = kept().map((name) => statSync(path.join(cacheDirectory, name)).mtimeMs)
    expect(await loadAssembly({ cacheDirectory, roomsDirectory })).toEqual(assembly)
    expect(kept().map((name) => statSync(path.join(cacheDirectory, name)).mtimeMs)).toEqual(before)
  })

  test('a changed room is synthesized anew, and three assemblies are kept', async () => {
    const [first = ''] = kept()
    for (const stale of ['assembly-old', 'assembly-older', 'unfinished-killed']) {
      mkdirSync(path.join(cacheDirectory, stale))
      utimesSync(path.join(cacheDirectory, stale), 1, 1)
    }
    writeRoom('webhook', 'second')
    const changed = await loadAssembly({ cacheDirectory, roomsDirectory })
    expect(functionOf('webhook', changed).bundle).not.toBe(functionOf('webhook').bundle)
    expect(path.basename(functionOf('sweep', changed).bundle)).toBe(path.basename(functionOf('sweep').bundle))
    expect(kept()).toHaveLength(3)
    expect(kept()).toContain(first)
    expect(kept().filter((name) => name.startsWith('unfinished-'))).toEqual([])
  })

  test('two starts at once end with one assembly', async () => {
    const together = path.join(folder, 'together')
    const [one, other] = await Promise.all([
      loadAssembly({ cacheDirectory: together, roomsDirectory }),
      loadAssembly({ cacheDirectory: together, roomsDirectory }),
    ])
    expect(one).toEqual(other)
    expect(readdirSync(together)).toHaveLength(1)
  })

  test('an error names a room that cannot be bundled, and no assembly is left', async () => {
    const broken = path.join(folder, 'broken')
    writeRoom('post', `' + `)
    await expect(loadAssembly({ cacheDirectory: broken, roomsDirectory })).rejects.toThrow(/post\/handler\.ts/)
    expect(readdirSync(broken)).toEqual([])
  })
})
