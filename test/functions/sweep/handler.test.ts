/** The sweep as invoked, over a local table: its metrics, which alarms depend on, and its lanes. */
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { sweepMetrics } from '../../../infra/alarms.ts'
import { type Key, keyOf } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { runOf } from '../../shared/samples.ts'

/** The delay of the due items, ms. */
const LATE_MS = 20 * 60_000

let world: World
let handler: typeof import('../../../functions/sweep/handler.ts').handler
const lines: string[] = []

beforeAll(async () => {
  world = await startWorld()
  const environment = {
    TABLE_NAME: world.ledger.table,
    DOCUMENTS_BUCKET: 'documents',
    OUTBOX_URL: world.ending.outbox.url,
    INBOX_URL: world.ending.outbox.url,
    STATE_MACHINE_ARN: world.ending.stateMachineArn,
    POWERTOOLS_METRICS_NAMESPACE: 'Muster',
    AWS_LAMBDA_FUNCTION_NAME: 'the-sweep',
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  // Metrics go to a console of the library's own, out of reach for a test.
  vi.stubEnv('POWERTOOLS_DEV', 'true')
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false')
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT')
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  ;({ handler } = await import('../../../functions/sweep/handler.ts'))
})

afterEach(() => {
  lines.length = 0
})

afterAll(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await world.close()
})

/** Sweeps once, and returns the line of metrics. */
async function sweep(): Promise<Record<string, unknown>> {
  await handler(undefined, { getRemainingTimeInMillis: () => 50_000 })
  const measured = lines.flatMap((line) => (line.includes('CloudWatchMetrics') ? [JSON.parse(line)] : []))
  expect(measured).toHaveLength(1)
  return measured[0] as Record<string, unknown>
}

async function makeDue(key: Key, members: object): Promise<void> {
  const { due } = await import('../../../shared/ledger/table.ts')
  await world.put({ ...key, ...members, ...due(key, Date.now() - LATE_MS) })
}

describe('each sweep measures', () => {
  test('no delay and no failure when nothing is due, as an alarm takes missing metrics for a dead sweep', async () => {
    expect(await sweep()).toMatchObject({ [sweepMetrics.oldestDueAge]: 0, [sweepMetrics.dueFailed]: 0 })
  })

  test('the delay of the oldest due item, in milliseconds, under the name of its function', async () => {
    await makeDue(keyOf.fleet(), { slots: {}, version: 1, limits: { configured: 15, enabled: true } })
    const measured = await sweep()
    expect(measured[sweepMetrics.oldestDueAge]).toBeGreaterThanOrEqual(LATE_MS)
    expect(measured).toMatchObject({ [sweepMetrics.dueFailed]: 0, service: 'sweep', function_name: 'the-sweep' })
    expect(JSON.stringify(measured._aws)).toContain('{"Name":"OldestDueAge","Unit":"Milliseconds"}')
    expect(JSON.stringify(measured._aws)).toContain('"Namespace":"Muster"')
  })

  test('failures, as the alarm needs: a failing item goes to the back and is never late for long', async () => {
    // An event without a repository can't be nudged.
    await makeDue(keyOf.event(1, 1, 'closed:1'), { kind: 'closed' })
    expect(await sweep()).toMatchObject({ [sweepMetrics.dueFailed]: 1 })
  })
})

describe('each kind of item has a lane of its own', () => {
  test('many failing items and an unknown item delay no other kind', async () => {
    const dead = Array.from({ length: 60 }, (_, index) => keyOf.event(1, 2, `closed:${index}`))
    for (const key of dead) await makeDue(key, { kind: 'closed' })
    await makeDue({ pk: 'PR#1#2', sk: 'OF A LATER VERSION' }, {})
    const { due } = await import('../../../shared/ledger/table.ts')
    const run = keyOf.run('a'.repeat(64))
    await world.put({ ...run, ...runOf({ state: 'ended' }), ...due(run, Date.now() - 1) })
    let left = 20
    // Time for a few items only: less than the failing items would take.
    const remaining = () => {
      left -= 1
      return left > 0 ? 50_000 : 0
    }
    await handler(undefined, { getRemainingTimeInMillis: remaining })
    expect((await world.item(run))?.dueAt).toBeGreaterThan(Date.now())
  })

  test('items reached go to the back, and the next sweeps reach the rest', async () => {
    const ticks = 8
    for (let tick = 0; tick < ticks; tick += 1) {
      let left = 15
      await handler(undefined, { getRemainingTimeInMillis: () => (left-- > 0 ? 50_000 : 0) })
    }
    const late = (await world.items()).filter(({ dueAt }) => typeof dueAt === 'number' && dueAt <= Date.now())
    expect(late).toEqual([])
  })

  test('post is nudged once for a run, however many of its items are due', async () => {
    const { due } = await import('../../../shared/ledger/table.ts')
    const { repositoryId, number, runId } = { repositoryId: 7, number: 42, runId: 'c'.repeat(64) }
    for (const key of ['one', 'two', 'three']) {
      const row = keyOf.message(repositoryId, number, runId, 'p', key)
      await world.put({ ...row, repositoryId, number, runId, state: 'owed', ...due(row, Date.now() - 1) })
    }
    const { client, url } = world.ending.outbox
    await handler(undefined, { getRemainingTimeInMillis: () => 50_000 })
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }))
    expect(Messages.filter(({ Body }) => Body?.includes(runId))).toHaveLength(1)
  })
})
