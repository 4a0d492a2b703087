/** Sweep: every minute, takes up every due item. Each action is conditional and repeatable. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openMetrics } from '../../shared/aws/metrics.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { GITHUB_CALL_MS } from '../../shared/base/limits.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { dueKeys, kindOfKey } from '../../shared/ledger/due.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { newTick } from './core/tick.ts'
import type { SweepDeps } from './deps.ts'
import { type TakenUp, takeUpKey } from './take-up.ts'

const log = openLog('sweep')
const metrics = openMetrics('sweep')
const deps: SweepDeps = {
  ledger: openLedger(environment('TABLE_NAME'), timings()),
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  outbox: openQueue(environment('OUTBOX_URL')),
  inbox: openQueue(environment('INBOX_URL')),
  stateMachineArn: environment('STATE_MACHINE_ARN'),
  now: Date.now,
  nonce: randomUUID,
  log,
}

/**
 * Each kind of item has a lane of its own, oldest first: many, slow or failing items of one kind delay no further kind. The
 * sweep ends well before its deadline, and items left over are the oldest of the next minute.
 */
export async function handler(
  _event: unknown,
  invocation: { getRemainingTimeInMillis(): number },
): Promise<{ due: number; done: number; failed: number }> {
  const now = Date.now()
  const keys = await dueKeys(deps.ledger, now)
  const tick = newTick()
  const takenUp: TakenUp[] = []
  await Promise.all(
    [...Map.groupBy(keys, kindOfKey).values()].map(async (lane) => {
      for (const key of lane) {
        if (invocation.getRemainingTimeInMillis() < GITHUB_CALL_MS) return
        takenUp.push(await takeUpKey(deps, key, now, tick))
      }
    }),
  )
  const done = takenUp.filter(({ outcome }) => outcome === 'done').length
  const failed = takenUp.filter(({ outcome }) => outcome === 'failed').length
  log.info('Swept', { count: keys.length })
  // Published also when nothing is due: the absence of these metrics raises an alarm.
  metrics.publish([
    { name: 'OldestDueAge', value: Math.max(0, ...takenUp.map(({ lateMs }) => lateMs)), unit: 'milliseconds' },
    { name: 'DueFailed', value: failed, unit: 'count' },
  ])
  return { due: keys.length, done, failed }
}
