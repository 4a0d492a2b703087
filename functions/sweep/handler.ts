/** Sweep: every minute, takes up whatever is due. Each action is conditional and repeatable; each row is moved on first. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openMetrics } from '../../shared/aws/metrics.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { nameOf, sentenceOf } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { GITHUB_CALL_MS } from '../../shared/base/limits.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { dueKeys, kindOfKey, postponeDue, readDue } from '../../shared/ledger/due.ts'
import { type Key, openLedger } from '../../shared/ledger/table.ts'
import { nextDueAt } from './core/sweep.ts'
import { newTick, type Tick } from './core/tick.ts'
import { type SweepDeps, takeUp } from './take-up.ts'

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
 * Each kind of thing in a lane of its own, oldest first, so that none is kept waiting by many, slow or failing things of
 * another. Ends in good time before its own deadline; what it didn't reach is the oldest of the next minute.
 */
export async function handler(
  _event: unknown,
  invocation: { getRemainingTimeInMillis(): number },
): Promise<{ due: number; done: number; failed: number }> {
  const now = Date.now()
  const keys = await dueKeys(deps.ledger, now)
  const lanes = Map.groupBy(keys, kindOfKey)
  const tick = newTick()
  const taken: Taken[] = []
  await Promise.all(
    [...lanes.values()].map(async (lane) => {
      for (const key of lane) {
        if (invocation.getRemainingTimeInMillis() < GITHUB_CALL_MS) return
        taken.push(await takeUpKey(key, now, tick))
      }
    }),
  )
  const done = taken.filter(({ outcome }) => outcome === 'done').length
  const failed = taken.filter(({ outcome }) => outcome === 'failed').length
  log.info('Swept', { count: keys.length })
  // Also when nothing is due: an alarm is raised by their absence.
  metrics.publish([
    { name: 'OldestDueAge', value: Math.max(0, ...taken.map(({ lateMs }) => lateMs)), unit: 'milliseconds' },
    { name: 'DueFailed', value: failed, unit: 'count' },
  ])
  return { due: keys.length, done, failed }
}

interface Taken {
  /** `past`: it was not due any more. */
  readonly outcome: 'done' | 'failed' | 'past'
  /** How long after its time it was met, ms. */
  readonly lateMs: number
}

/** Never throws: what goes wrong with one thing is logged, and is no other thing's matter. */
async function takeUpKey(key: Key, now: number, tick: Tick): Promise<Taken> {
  const { ledger } = deps
  const { recheckMs } = ledger.timings
  let lateMs = 0
  try {
    const item = await readDue(ledger, key, now)
    if (!item) return { outcome: 'past', lateMs }
    lateMs = now - item.dueAt
    // First to the back: a row whose action fails, or kills this process, must not be the first for ever.
    await postponeDue(ledger, key, item.dueAt, nextDueAt(item, now, recheckMs))
    FAILPOINT: await failpoint('sweep.moved_on')
    await takeUp(deps, item, tick)
    return { outcome: 'done', lateMs }
  } catch (error) {
    log.error('What was due could not be done', {
      key: kindOfKey(key),
      error: nameOf(error),
      code: sentenceOf(error).slice(0, 200),
    })
    return { outcome: 'failed', lateMs }
  }
}
