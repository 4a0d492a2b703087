/** Stores a conclusion: the documents first, then all their names in one transaction. */
import { failpoint } from '../../shared/base/failpoints.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { putDocument } from '../../shared/documents/documents.ts'
import { updateRun } from '../../shared/ledger/run.ts'
import { type ConclusionWrite, writeConclusion } from '../../shared/ledger/thread.ts'
import type { Run } from '../../shared/runs/run.ts'
import { withToken } from '../../shared/runs/task-tokens.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'
import { checkRunOf } from './core/check-run.ts'
import { isWhole } from './core/conclude.ts'
import { labelOf } from './core/label.ts'
import { summaryOf } from './core/summary.ts'
import type { ConcludeDeps, ConclusionToStore } from './make-conclusion.ts'

/** `again` if the thread or the run has changed since Conclude read it. */
export async function storeConclusion(
  deps: ConcludeDeps,
  { run, thread, token }: Pick<ConclusionWrite, 'run' | 'thread' | 'token'>,
  { conclusion, ...owed }: ConclusionToStore,
): Promise<'owed' | 'held' | 'again'> {
  const document = await putDocument(deps.documents, conclusion)
  const resources = await storeResources(deps, run, conclusion)
  FAILPOINT: await failpoint('conclude.documents_stored')
  const moved = await writeConclusion(deps.ledger, {
    ...owed,
    thread,
    run,
    token,
    verdict: conclusion.verdict,
    conclusion: document,
    whole: isWhole(conclusion),
    round: conclusion.round,
    resources,
    now: deps.now(),
  })
  if (moved === 'again') return 'again'
  if (moved === 'done') return 'owed'
  return (await holdForHalt(deps, run)) ? 'held' : 'again'
}

async function storeResources(
  { documents }: ConcludeDeps,
  { head }: Run,
  conclusion: Conclusion,
): Promise<ConclusionWrite['resources']> {
  return [
    { kind: 'check_run', key: head, document: await putDocument(documents, checkRunOf(conclusion)) },
    { kind: 'summary', key: 'main', document: await putDocument(documents, summaryOf(conclusion)) },
    { kind: 'label', key: 'main', document: await putDocument(documents, labelOf(conclusion)) },
  ]
}

/** Adds the task token of a further call to a concluded run: the end of the run answers all tokens. */
export async function storeToken({ ledger, now }: ConcludeDeps, run: Run, token: string): Promise<'owed' | 'again'> {
  const tokens = withToken(run.token, token)
  return (await updateRun(ledger, run, { token: tokens }, { now: now() })) ? 'owed' : 'again'
}
