/** Post: brings GitHub to the state that the ledger wants. Each write has a read before and a read-back after. */
import { randomUUID } from 'node:crypto'
import { type BatchAnswer, processBatch, type QueueRecord } from '../../shared/aws/batch.ts'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { nameOf } from '../../shared/base/errors.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { openApp } from '../../shared/github/app.ts'
import { readMessages } from '../../shared/ledger/message.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { inputOf, outboxNudge } from '../../shared/runs/contract.ts'
import type { Repository } from '../../shared/runs/run.ts'
import type { PostDeps } from './deps.ts'
import { forgetMessage } from './message-steps.ts'
import { postRun } from './post-run.ts'
import { isReply, postReply } from './replies.ts'

const log = openLog('post')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const documents = openDocuments(environment('DOCUMENTS_BUCKET'))
const openInstallation = openApp(openSecret(environment('GITHUB_APP_SECRET_ID')), environment('GITHUB_API_URL'))
const coordinator: Coordinator = { ledger, executions: openExecutions(), now: Date.now, nonce: randomUUID }

export async function handler(batch: { readonly Records: readonly QueueRecord[] }): Promise<BatchAnswer> {
  return processBatch(batch.Records, post, (error) =>
    log.error('A pull request was not posted to', { error: nameOf(error) }),
  )
}

async function depsFor({ installationId }: Repository): Promise<PostDeps> {
  const github = await openInstallation(installationId, Date.now())
  return { ledger, documents, github, owner: randomUUID(), now: Date.now, log }
}

/** Posts everything due for one run, or one reply; the table keeps the rest due. */
async function post(body: string): Promise<void> {
  const nudge = inputOf(outboxNudge, JSON.parse(body))
  const { runId } = nudge
  const run = await readRun(ledger, runId)
  if (!run) {
    for (const message of await readMessages(ledger, nudge)) {
      if (isReply(message)) await postReply(await depsFor(message.repository), message)
      else await forgetMessage({ ledger, owner: randomUUID(), now: Date.now }, message)
    }
    return
  }
  const deps = await depsFor(run.repository)
  const finished = await postRun(deps, coordinator, run)
  log.info('Posted', { runId, outcome: finished ? 'shown' : 'owed' })
}
