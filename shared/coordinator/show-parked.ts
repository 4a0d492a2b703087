/** What a run's check run says while its reviews wait for a throttled model: raised when that begins, and when it ends. */

import { failpoint } from '../base/failpoints.ts'
import { type Documents, getDocument, putDocument } from '../documents/documents.ts'
import { readRun, writeParked } from '../ledger/run.ts'
import { contended } from '../ledger/table.ts'
import { inProgressCheckRun, parkedCheckRun } from '../publishing/check-run.ts'
import type { CheckRunResource } from '../publishing/github-payloads.ts'
import type { Run } from '../runs/run.ts'
import { planSchema } from '../verdict/plan.ts'
import type { Coordinator } from './coordinator.ts'

export interface ShowParkedDeps extends Pick<Coordinator, 'ledger' | 'now'> {
  readonly documents: Documents
}

/** Times are ms UTC. */
export interface Parking {
  readonly pool: string
  readonly since: number
  readonly nextTry: number
}

/** Says that the run is parked, unless that is said already, or it isn't this attempt that runs. Repeatable. */
export async function showParked(deps: ShowParkedDeps, run: Run, parking: Parking): Promise<void> {
  const { pool, since } = parking
  const { patienceMs } = deps.ledger.timings
  await show(deps, run, {
    isShown: ({ parked }) => parked !== undefined,
    mark: { pool, since },
    checkRun: () => parkedCheckRun(run, { ...parking, givenUpAt: since + patienceMs }),
  })
}

/** Says that the reviews of a parked run go on. Repeatable. */
export async function showGoingOn(deps: ShowParkedDeps, run: Run): Promise<void> {
  await show(deps, run, {
    isShown: ({ parked }) => parked === undefined,
    mark: undefined,
    async checkRun() {
      const { reviews } = await getDocument(deps.documents, run.plan ?? '', planSchema)
      return inProgressCheckRun(run, [...new Set(reviews.map(({ lens }) => lens))])
    },
  })
}

interface Shown {
  isShown(run: Run): boolean
  readonly mark: Run['parked']
  checkRun(): CheckRunResource | Promise<CheckRunResource>
}

/** No nudge: what is raised is due soon, and a review that waits has that time. */
async function show({ ledger, documents, now }: ShowParkedDeps, run: Run, shown: Shown): Promise<void> {
  if (shown.isShown(run)) return
  const document = await putDocument(documents, await shown.checkRun())
  await contended(async () => {
    const current = await readRun(ledger, run.runId)
    if (current?.attempt !== run.attempt || current.state !== 'running' || shown.isShown(current)) return 'nothing'
    const wanted = [{ kind: 'check_run', key: run.head, document }]
    return writeParked(ledger, current, shown.mark, { wanted, now: now() })
  })
  FAILPOINT: await failpoint('show_parked.raised')
}
