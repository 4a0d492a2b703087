/** Conclude: merges results into a verdict, writes it in one transaction, and waits until GitHub shows it. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { answerToken, openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { nudge, openQueue } from '../../shared/aws/queue.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { contended, openLedger } from '../../shared/ledger/table.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { concludeInput, inputOf } from '../../shared/runs/contract.ts'
import { type SettledOutcome, settledOutcome } from './core/settled-outcome.ts'
import { type ConcludeDeps, makeConclusion } from './make-conclusion.ts'
import { storeConclusion, storeToken } from './store-conclusion.ts'

const log = openLog('conclude')
const outbox = openQueue(environment('OUTBOX_URL'))
const deps: ConcludeDeps = {
  ledger: openLedger(environment('TABLE_NAME'), timings()),
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  now: Date.now,
  nonce: randomUUID,
}

/** The caller gets no answer: the task token is answered when GitHub shows everything, or when the run has moved on. */
export async function handler(input: unknown): Promise<void> {
  const { runId, attempt, token } = inputOf(concludeInput, input)
  const outcome = await contended(() => concludeOnce(runId, attempt, token))
  log.info('Concluded', { runId, attempt, outcome })
  if (outcome !== 'owed') {
    await answerToken(deps.executions, token, { outcome })
    return
  }
  FAILPOINT: await failpoint('conclude.written')
  const run = await readRun(deps.ledger, runId)
  if (run) {
    const { repository, number } = run
    await nudge(outbox, { contract: CONTRACT, repositoryId: repository.id, number, runId }, deps.nonce())
  }
  FAILPOINT: await failpoint('conclude.nudged')
  // A post between the transaction and this token may have shown everything (IL10).
  await finishIfShown(deps, runId)
}

async function concludeOnce(runId: string, attempt: number, token: string): Promise<SettledOutcome | 'owed' | 'again'> {
  const { ledger } = deps
  const run = await readRun(ledger, runId)
  const settled = settledOutcome(run, attempt)
  if (settled || !run) return settled ?? 'superseded'
  if (run.state === 'concluded') return storeToken(deps, run, token)
  const thread = await readThread(ledger, run.repository.id, run.number)
  if (thread?.liveRun?.runId !== runId || thread.liveRun.attempt !== attempt) return 'superseded'
  return storeConclusion(deps, { run, thread, token }, await makeConclusion(deps, run, thread))
}
