/** Admit: a review gets a ticket with its task token, and waits at no cost until the fleet has a slot. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { answerToken, openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { poolOf } from '../../shared/fleet/pools.ts'
import { turnOf } from '../../shared/fleet/schedule.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { admitInput, inputOf, reviewNameIn } from '../../shared/runs/contract.ts'
import { type AdmitDeps, admitReview } from './admit-review.ts'
import { needsAdjudication, refusalOf } from './core/admission.ts'

const ledger = openLedger(environment('TABLE_NAME'), timings())
const executions = openExecutions()
const deps: AdmitDeps = { ledger, executions, log: openLog('admit'), now: Date.now, nonce: randomUUID }

/** Returns nothing: the task token is answered, now or at the grant of a slot. */
export async function handler(input: unknown): Promise<void> {
  const { runId, attempt, review, token, lost } = inputOf(admitInput, input)
  const name = reviewNameIn({ runId, review })
  const run = await readRun(ledger, runId)
  const refusal = refusalOf(run, attempt)
  if (!run || refusal) return answer(token, refusal ?? 'ended')
  if (name.lens === 'adjudication' && !needsAdjudication(await readReviews(ledger, runId, name.planKey))) {
    return answer(token, 'not_needed')
  }
  const { repository } = run
  const wanted = { ...name, attempt, repository, pool: poolOf(run, name.lens), turn: turnOf(run), token }
  await admitReview(deps, wanted, lost)
}

async function answer(token: string, outcome: string): Promise<void> {
  await answerToken(executions, token, { outcome, epoch: 0 })
}
