/** Command: does what events other than heads ask of a pull request. */
import { randomUUID } from 'node:crypto'
import { type BatchAnswer, type QueueRecord, workThrough } from '../../shared/aws/batch.ts'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { inboxNudge, inputOf } from '../../shared/contract.ts'
import { type EndingParts, finishEnding } from '../../shared/coordinator/ending.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { nameOf } from '../../shared/errors.ts'
import { finishEvent, openEvent } from '../../shared/ledger/event.ts'
import { beginEnding } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { reached } from '../../shared/points.ts'
import { runToEnd } from './command.ts'

const log = openLog('command')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const parts: EndingParts = {
  ledger,
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  outbox: openQueue(environment('OUTBOX_URL')),
  stateMachineArn: environment('STATE_MACHINE_ARN'),
  now: Date.now,
  nonce: randomUUID,
}

export async function handler(batch: { readonly Records: readonly QueueRecord[] }): Promise<BatchAnswer> {
  return workThrough(batch.Records, takeUp, (error) => log.error('An event was not done', { error: nameOf(error) }))
}

/** Does one event; one that was done already is acknowledged. */
async function takeUp(body: string): Promise<void> {
  const name = inputOf(inboxNudge, JSON.parse(body))
  const event = await openEvent(ledger, name)
  if (!event) return
  const ends = runToEnd(event, await readThread(ledger, name.repositoryId, name.number))
  if (ends && (await beginEnding(ledger, ends, { ...ends, now: Date.now() }))) {
    POINT: await reached('command.ending_begun')
    await finishEnding(parts, ends.runId)
  }
  POINT: await reached('command.done')
  await finishEvent(ledger, event)
  log.info('Event done', { event: event.kind, outcome: ends ? 'ended' : 'nothing_to_end' })
}
