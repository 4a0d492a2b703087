/** Command: handles events of pull requests: closings and commands in comments. */
import { randomUUID } from 'node:crypto'
import { type BatchAnswer, processBatch, type QueueRecord } from '../../shared/aws/batch.ts'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { isFailure, nameOf } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { type EndingDeps, finishEnding } from '../../shared/coordinator/ending.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { openApp } from '../../shared/github/app.ts'
import { whileNew } from '../../shared/github/while-new.ts'
import { finishEvent, openEvent, postponeEvent } from '../../shared/ledger/event.ts'
import { beginEnding } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { inboxNudge, inputOf } from '../../shared/runs/contract.ts'
import type { ClosedEvent } from '../../shared/runs/event.ts'
import { runToEnd } from './core/closing.ts'
import type { RecordedCommand } from './core/command.ts'
import { doCommand } from './do-command.ts'

const log = openLog('command')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const openInstallation = openApp(openSecret(environment('GITHUB_APP_SECRET_ID')), environment('GITHUB_API_URL'))
const deps: EndingDeps = {
  ledger,
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  outbox: openQueue(environment('OUTBOX_URL')),
  stateMachineArn: environment('STATE_MACHINE_ARN'),
  now: Date.now,
  nonce: randomUUID,
}

export async function handler(batch: { readonly Records: readonly QueueRecord[] }): Promise<BatchAnswer> {
  return processBatch(batch.Records, processNudge, (error) =>
    log.error('An event was not done', { error: nameOf(error) }),
  )
}

/** Handles one event. A done event is acknowledged; an event that must wait is due again, for however long. */
async function processNudge(body: string): Promise<void> {
  const name = inputOf(inboxNudge, JSON.parse(body))
  const event = await openEvent(ledger, name)
  if (!event) return
  try {
    await (event.kind === 'closed' ? endClosed(event) : obey(event))
  } catch (error) {
    if (!isFailure(error, 'retry')) throw error
    log.warn('An event waits', { event: event.kind, code: error.code })
    return postponeEvent(ledger, event, Date.now() + error.afterMs)
  }
  FAILPOINT: await failpoint('command.done')
  await finishEvent(ledger, event)
}

/** Ends the run of a closed pull request. */
async function endClosed(event: ClosedEvent): Promise<void> {
  const run = runToEnd(event, await readThread(ledger, event.repository.id, event.number))
  if (run && (await beginEnding(ledger, run, { ...run, eventAt: event.eventAt, now: Date.now() }))) {
    FAILPOINT: await failpoint('command.ending_begun')
    await finishEnding(deps, run.runId)
  }
  log.info('Event done', { event: event.kind, outcome: run ? 'ended' : 'nothing_to_end' })
}

/** Carries out a person's command. If GitHub is gone for us, or forbids a needed call, no reply is possible. */
async function obey(event: RecordedCommand): Promise<void> {
  const github = whileNew(await openInstallation(event.repository.installationId, Date.now()), event, Date.now)
  try {
    await doCommand({ ...deps, github, log }, event)
  } catch (error) {
    if (!isFailure(error, 'dead')) throw error
    log.error('A command can not be done', { code: error.code })
  }
}
