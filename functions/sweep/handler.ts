/** Sweep: every minute, takes up whatever is due. Each action is conditional and repeatable; each row is moved on first. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openMetrics } from '../../shared/aws/metrics.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { nameOf, sentenceOf } from '../../shared/errors.ts'
import { dueKeys, kindOfKey, lookLater, readDue } from '../../shared/ledger/due.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { GITHUB_CALL_MS } from '../../shared/limits.ts'
import { reached } from '../../shared/points.ts'
import { type SweepParts, takeUp } from './take-up.ts'

const log = openLog('sweep')
const metrics = openMetrics('sweep')
const parts: SweepParts = {
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

/** Ends in good time before its own deadline; what it didn't reach is the oldest of the next minute. */
export async function handler(
  _event: unknown,
  invocation: { getRemainingTimeInMillis(): number },
): Promise<{ due: number; done: number; failed: number }> {
  const now = Date.now()
  const keys = await dueKeys(parts.ledger, now)
  let done = 0
  let failed = 0
  let oldestMs = 0
  for (const key of keys) {
    if (invocation.getRemainingTimeInMillis() < GITHUB_CALL_MS) break
    try {
      const item = await readDue(parts.ledger, key, now)
      if (!item) continue
      oldestMs = Math.max(oldestMs, now - item.dueAt)
      // First to the back: a row whose action fails, or kills this process, must not be the first for ever.
      await lookLater(parts.ledger, key, item.dueAt, now + parts.ledger.timings.lookMs)
      POINT: await reached('sweep.moved_on')
      await takeUp(parts, item)
      done += 1
    } catch (error) {
      failed += 1
      log.error('What was due could not be done', {
        key: kindOfKey(key),
        error: nameOf(error),
        code: sentenceOf(error).slice(0, 200),
      })
    }
  }
  log.info('Swept', { count: keys.length })
  // Also when nothing is due: an alarm is raised by their absence.
  metrics.publish([
    { name: 'OldestDueAge', value: oldestMs, unit: 'milliseconds' },
    { name: 'DueFailed', value: failed, unit: 'count' },
  ])
  return { due: keys.length, done, failed }
}
