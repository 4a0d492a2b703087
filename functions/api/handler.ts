/** The API for programs and operators. IAM authorises every caller before the call. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { nameOf, Refused } from '../../shared/base/errors.ts'
import type { HttpAnswer } from '../../shared/base/http-answer.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { failureAnswer } from './core/answer.ts'
import type { HttpRequest } from './core/request.ts'
import type { ApiDeps } from './deps.ts'
import { changeLimits, showFleet } from './fleet.ts'
import { halt, resume, showHalt } from './halts.ts'
import { cancel, retry, showRun } from './runs.ts'

const log = openLog('api')
const deps: ApiDeps = {
  ledger: openLedger(environment('TABLE_NAME'), timings()),
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  outbox: openQueue(environment('OUTBOX_URL')),
  stateMachineArn: environment('STATE_MACHINE_ARN'),
  now: Date.now,
  nonce: randomUUID,
  log,
}

/** The routes of infra/http-api.ts, by API Gateway's route key. */
const routes: Readonly<Record<string, (deps: ApiDeps, request: HttpRequest) => Promise<HttpAnswer>>> = {
  'GET /runs/{runId}': showRun,
  'POST /runs/{runId}/cancel': cancel,
  'POST /runs/{runId}/retry': retry,
  'GET /fleet': showFleet,
  'PATCH /fleet/limits': changeLimits,
  'GET /halts/{scope+}': showHalt,
  'PUT /halts/{scope+}': halt,
  'DELETE /halts/{scope+}': resume,
}

export async function handler(request: HttpRequest): Promise<HttpAnswer> {
  try {
    const route = routes[request.routeKey ?? '']
    if (!route) throw new Refused('unknown_route', 'The route is unknown.', 'See the documentation of this version.')
    return await route(deps, request)
  } catch (error) {
    log.warn('Not done', { error: nameOf(error), key: request.routeKey ?? '' })
    return failureAnswer(error)
  }
}
