/** Keeps what a run raised true on GitHub: check run, summary comment, label, each under its lease (DESIGN §9). */
import { resourceNamesOf } from '../../shared/coordinator/finish.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import { isFailure, sentenceOf } from '../../shared/errors.ts'
import { keepCheckRun } from '../../shared/github/keep-check-run.ts'
import { type Kept, keepLabel, keepSummary } from '../../shared/github/keep-resource.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import {
  leaseResource,
  postponeResource,
  readResource,
  recordShown,
  type ShownResource,
} from '../../shared/ledger/resource.ts'
import type { Run } from '../../shared/run.ts'
import type { Resource } from '../../shared/shown.ts'
import type { PostParts } from './parts.ts'
import { afterUnknown, isOwed, secondLook } from './post.ts'

/** Each resource that is owed. One that another poster holds is left to it. */
export async function keepResources(parts: PostParts, run: Run): Promise<void> {
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  for (const name of resourceNamesOf(pullRequest, run.head)) {
    const resource = await readResource(parts.ledger, name)
    if (
      resource &&
      isOwed(resource, parts.now()) &&
      (await leaseResource(parts.ledger, resource, parts.owner, parts.now()))
    ) {
      await keep(parts, run, resource)
    }
  }
}

async function keep(parts: PostParts, run: Run, resource: ShownResource): Promise<void> {
  const { ledger, documents, owner, now, log } = parts
  if (await standingHalt(ledger, run.repository)) {
    await postponeResource(ledger, resource, owner, { at: now() + ledger.timings.lookMs })
    return
  }
  try {
    const kept = await show(parts, run, resource, await getDocument<Resource>(documents, resource.document))
    if (kept.state === 'shown') {
      const lookAgainAt = secondLook(resource, now(), ledger.timings.postLeaseMs)
      await recordShown(ledger, resource, owner, {
        now: now(),
        ...(kept.id === undefined ? {} : { githubId: kept.id }),
        ...(lookAgainAt === undefined ? {} : { lookAgainAt }),
      })
      return
    }
    // A resource is never given up: it stays due, later each time, and its error is on the item.
    const next = afterUnknown(kept.because, Math.min(resource.errors, 3), now())
    const at = next.kind === 'postpone' ? next.at : now() + ledger.timings.lookMs
    log.warn('A resource is not shown yet', { runId: run.runId, key: resource.kind, code: kept.because.code })
    await postponeResource(ledger, resource, owner, { at, error: kept.because.message })
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    log.error('A resource can not be shown', { runId: run.runId, key: resource.kind, code: error.code })
    await recordShown(ledger, resource, owner, { now: now(), refused: sentenceOf(error) })
  }
}

function show(parts: PostParts, run: Run, resource: ShownResource, desired: Resource): Promise<Kept> {
  const { github } = parts
  const { repository, number } = run
  switch (desired.kind) {
    case 'check_run':
      return keepCheckRun(github, repository, desired)
    case 'summary': {
      const place = { repo: repository, repositoryId: repository.id, number }
      return keepSummary(github, place, desired, resource.generation)
    }
    case 'label':
      return keepLabel(github, repository, number, desired)
  }
}
