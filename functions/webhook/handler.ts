/** POST /github/webhook: verifies the exact bytes, records a run or an event, starts or nudges, without a call to GitHub (AW11). */
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { isFailure, nameOf } from '../../shared/base/errors.ts'
import { answer, type HttpAnswer, refusalAnswer } from '../../shared/base/http-answer.ts'
import { WEBHOOK_BUDGET_MS } from '../../shared/base/limits.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { decide, HANDLED_EVENTS } from './core/delivery.ts'
import { deliveryOf, type HttpRequest } from './core/request.ts'
import { type RecordDeps, recordEvent, recordRun } from './record.ts'
import { verify } from './verify.ts'

const log = openLog('webhook')
const appSecret = openSecret(environment('GITHUB_APP_SECRET_ID'))
const deps: RecordDeps = {
  ledger: openLedger(environment('TABLE_NAME'), timings()),
  executions: openExecutions(),
  inbox: openQueue(environment('INBOX_URL')),
  stateMachineArn: environment('STATE_MACHINE_ARN'),
  log,
}

const BUSY = {
  code: 'busy',
  message: 'The delivery could not be recorded in time.',
  remedy: 'Redeliver it in the App’s settings, under Advanced.',
} as const

/** Answers one delivery within WEBHOOK_BUDGET_MS. A delivery without a record is answered 5xx: GitHub shows it as failed. */
export async function handler(request: HttpRequest): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(WEBHOOK_BUDGET_MS)
  try {
    const delivery = deliveryOf(request)
    // Any further event is ignored by its name: its body is neither verified nor read.
    if (HANDLED_EVENTS.includes(delivery.event)) {
      await verify({ appSecret, log }, delivery, { base64: request.isBase64Encoded, signal })
    }
    const decision = decide(delivery.event, delivery.body)
    switch (decision.kind) {
      case 'run':
        return await recordRun(deps, decision.request, delivery, signal)
      case 'event':
        return await recordEvent(deps, decision.event, delivery, signal)
      case 'ignored':
        log.info('Delivery ignored', { deliveryId: delivery.id, outcome: decision.reason })
        return answer(202, { status: 'ignored', reason: decision.reason })
    }
  } catch (error) {
    if (isFailure(error, 'refused')) return refusalAnswer(error)
    log.error('The delivery could not be recorded', { error: nameOf(error) })
    if (isFailure(error, 'retry') || signal.aborted) return refusalAnswer(BUSY)
    throw error // unknown: 5xx, for alarms and redelivery (AW13)
  }
}
