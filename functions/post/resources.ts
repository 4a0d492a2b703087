/** Keeps what runs raised true on GitHub: check runs, summary comment, label, under the pull request's lease (DESIGN §9). */

import { isFailure, type Retry, sentenceOf } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import type { GitHub } from '../../shared/github/github.ts'
import { keepCheckRun } from '../../shared/github/keep-check-run.ts'
import { type Kept, keepLabel, keepSummary } from '../../shared/github/keep-resource.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import {
  leaseResources,
  type ResourceOutcome,
  type Resources,
  readResources,
  recordResources,
  renewResources,
  type ShownResource,
} from '../../shared/ledger/resource.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { type Resource, resourceSchema } from '../../shared/publishing/github-payloads.ts'
import type { Run } from '../../shared/runs/run.ts'
import { afterUnknown, isLeaseAbandoned, isOwed, mayShow, nextRecheckAt } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { overtaken } from './messages.ts'
import { writingFor } from './writing.ts'

/** Raised anew while they were shown, resources are shown at once so often; what comes after that is the next nudge's. */
const ROUNDS_MAX = 3

/** Each resource of the run's pull request that is owed. All are left to another poster that holds them. */
export async function keepResources(deps: PostDeps, run: Run): Promise<void> {
  const { ledger, owner, now } = deps
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const resources = await readResources(ledger, pullRequest)
    if (!resources) return
    const owed = resources.all.filter((resource) => isOwed(resource, now()))
    // A lease that nobody gave back: its poster died, or had taken it by a call that landed late, when nothing was owed any more.
    if (owed.length === 0 && !isLeaseAbandoned(resources, now())) return
    // They wait for the end of the halt as they stand, without a lease that is taken and given back each minute.
    if (await standingHalt(ledger, run.repository)) return
    if (!(await leaseResources(ledger, resources, owner, now()))) return
    FAILPOINT: await failpoint('post.resources_leased')
    if ((await keepAll(deps, run, resources, owed)) !== 'raised') return
  }
}

async function keepAll(deps: PostDeps, run: Run, resources: Resources, owed: readonly ShownResource[]) {
  const { ledger, owner, now } = deps
  const outcomes: ResourceOutcome[] = []
  const failures: unknown[] = []
  let leasedAt = now()
  for (const resource of owed) {
    // A slow one must not use up the time of the next.
    if (now() - leasedAt > ledger.timings.postLeaseMs / 2) {
      leasedAt = now()
      if (!(await renewResources(ledger, resources, owner, leasedAt))) return 'lost'
    }
    outcomes.push(await keep(deps, run, { resource, leasedBy: resources.owner }, failures))
    FAILPOINT: await failpoint('post.resource_kept')
  }
  const recorded = await recordResources(ledger, resources, owner, { outcomes, now: now() })
  if (failures.length > 0) throw failures[0]
  return recorded
}

/** `leasedBy` is who held the lease before and never gave it back. What was not expected is pushed to `failures`. */
async function keep(
  deps: PostDeps,
  run: Run,
  { resource, leasedBy }: { resource: ShownResource; leasedBy: string | undefined },
  failures: unknown[],
): Promise<ResourceOutcome> {
  const { ledger, documents, now, log } = deps
  const { kind, key, generation, recheckAt: looked } = resource
  const writing = writingFor(deps, run)
  const about = () => {
    const before = { ...(leasedBy === undefined ? {} : { owner: leasedBy }), ...(looked ? { recheckAt: looked } : {}) }
    const facts = { now: now(), leaseMs: ledger.timings.postLeaseMs, unanswered: writing.unanswered() }
    return { kind, key, generation, recheckAt: nextRecheckAt(before, facts) }
  }
  const postponed = (at: number, error?: string, counts = false): ResourceOutcome => ({
    ...about(),
    kept: 'postponed',
    at,
    error,
    counts,
  })
  // A resource is never given up: it stays due, later each time, and its error is on the item.
  const unknown = (because: Retry): ResourceOutcome => {
    const next = afterUnknown(because, Math.min(resource.errors, 3), now())
    const at = next.kind === 'postpone' ? next.at : now() + ledger.timings.recheckMs
    log.warn('A resource is not shown yet', { runId: run.runId, key: kind, code: because.code })
    return postponed(at, because.message, next.kind === 'give_up' || next.error)
  }
  try {
    const desired = await getDocument(documents, resource.document, resourceSchema)
    const allowed = await allowedNow(deps, run, resource, desired)
    if (allowed === 'void') return { ...about(), kept: 'shown', refused: 'head_superseded: its run was overtaken.' }
    if (allowed === 'later') return postponed(now() + ledger.timings.recheckMs)
    const kept = await show(writing.github, run, resource, desired)
    return kept.state === 'shown' ? { ...about(), kept: 'shown', githubId: kept.id } : unknown(kept.because)
  } catch (error) {
    if (isFailure(error, 'retry')) return unknown(error)
    if (isFailure(error, 'dead') || isFailure(error, 'refused')) {
      log.error('A resource can not be shown', { runId: run.runId, key: kind, code: error.code })
      return { ...about(), kept: 'shown', refused: sentenceOf(error) }
    }
    failures.push(error)
    const recheckAt = now() + ledger.timings.postLeaseMs
    return { ...postponed(now() + ledger.timings.recheckMs, sentenceOf(error).slice(0, 200), true), recheckAt }
  }
}

/** Asked right before what others would see; everything is read anew. */
async function allowedNow(
  deps: PostDeps,
  run: Run,
  resource: ShownResource,
  desired: Resource,
): Promise<'show' | 'later' | 'void'> {
  const { ledger, github, now } = deps
  const [raisedBy, halt] = await Promise.all([readRun(ledger, resource.runId), standingHalt(ledger, run.repository)])
  // Only a verdict needs its head to be live; asking costs a request.
  const shown = raisedBy?.state === 'concluded' ? await github.pullRequest(run.repository, run.number) : undefined
  const allowed = mayShow({ desired, raisedBy, halted: halt !== undefined, shown, now: now() })
  if (allowed !== 'head_moved') return allowed
  if (raisedBy) await overtaken(deps, raisedBy, shown)
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
