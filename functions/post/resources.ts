/** Keeps what a run raised true on GitHub: check run, summary comment, label, each under its lease (DESIGN §9). */
import { resourceNamesOf } from '../../shared/coordinator/finish.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import { isFailure, sentenceOf } from '../../shared/errors.ts'
import type { GitHub } from '../../shared/github/github.ts'
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
import { readRun } from '../../shared/ledger/run.ts'
import type { Run } from '../../shared/run.ts'
import type { Resource } from '../../shared/shown.ts'
import { overtaken } from './messages.ts'
import type { PostParts } from './parts.ts'
import { afterUnknown, isOwed, mayShow, secondLook } from './post.ts'
import { writingFor } from './writing.ts'

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
  const writing = writingFor(parts, run)
  const lookAt = () =>
    secondLook(resource, { now: now(), leaseMs: ledger.timings.postLeaseMs, unanswered: writing.unanswered() })
  try {
    const allowed = await allowedNow(parts, run, resource)
    if (allowed === 'void') {
      const refused = 'head_superseded: its run was overtaken.'
      await recordShown(ledger, resource, owner, { now: now(), refused, lookAgainAt: lookAt() })
      return
    }
    if (allowed === 'later') {
      await postponeResource(ledger, resource, owner, { at: now() + ledger.timings.lookMs, lookAt: lookAt() })
      return
    }
    const desired = await getDocument<Resource>(documents, resource.document)
    const kept = await show(writing.github, run, resource, desired)
    if (kept.state === 'shown') {
      await recordShown(ledger, resource, owner, { now: now(), githubId: kept.id, lookAgainAt: lookAt() })
      return
    }
    // A resource is never given up: it stays due, later each time, and its error is on the item.
    const next = afterUnknown(kept.because, Math.min(resource.errors, 3), now())
    const at = next.kind === 'postpone' ? next.at : now() + ledger.timings.lookMs
    const counts = next.kind === 'give_up' || next.error
    log.warn('A resource is not shown yet', { runId: run.runId, key: resource.kind, code: kept.because.code })
    await postponeResource(ledger, resource, owner, { at, error: kept.because.message, counts, lookAt: lookAt() })
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    log.error('A resource can not be shown', { runId: run.runId, key: resource.kind, code: error.code })
    const refused = sentenceOf(error)
    await recordShown(ledger, resource, owner, { now: now(), refused, lookAgainAt: lookAt() })
  }
}

/** Asked right before what others would see; everything is read anew. */
async function allowedNow(parts: PostParts, run: Run, resource: ShownResource): Promise<'show' | 'later' | 'void'> {
  const { ledger, github } = parts
  const [raisedBy, halt] = await Promise.all([readRun(ledger, resource.runId), standingHalt(ledger, run.repository)])
  // Only a verdict needs its head to be live; asking costs a request.
  const shownHead =
    raisedBy?.state === 'concluded' ? (await github.pullRequest(run.repository, run.number)).head.sha : ''
  const allowed = mayShow({ kind: resource.kind, raisedBy, halted: halt !== undefined, shownHead })
  if (allowed !== 'head_moved') return allowed
  if (raisedBy) await overtaken(parts, raisedBy)
  return 'later'
}

function show(github: GitHub, run: Run, resource: ShownResource, desired: Resource): Promise<Kept> {
  const { repository, number } = run
  switch (desired.kind) {
    case 'check_run':
      return keepCheckRun(github, repository, desired)
    case 'summary': {
      const known = resource.githubId === undefined ? {} : { knownId: resource.githubId }
      const place = { repo: repository, repositoryId: repository.id, number, ...known }
      return keepSummary(github, place, desired, resource.generation)
    }
    case 'label':
      return keepLabel(github, repository, number, desired)
  }
}
