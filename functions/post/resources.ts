/** Keeps the resources of a pull request true on GitHub, under their lease: check runs, summary comment, label. */
import { sentenceOf } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { RESOURCE_ROUNDS_MAX } from '../../shared/base/limits.ts'
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
import { orUnknown, type Unknown } from '../../shared/publishing/outcome.ts'
import type { Run } from '../../shared/runs/run.ts'
import { attemptPost, type Posting } from './attempt-post.ts'
import { isLeaseAbandoned, isOwed, mayPost } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { endSuperseded } from './end-run.ts'

/** Posts each due resource of the run's pull request. Resources under the lease of another poster are left alone. */
export async function keepResources(deps: PostDeps, run: Run): Promise<void> {
  const { ledger, owner, now } = deps
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  for (let round = 0; round < RESOURCE_ROUNDS_MAX; round += 1) {
    const resources = await readResources(ledger, pullRequest)
    if (!resources) return
    const owed = resources.all.filter((resource) => isOwed(resource, now()))
    // An abandoned lease is given back: its poster died, or took the lease by a call that landed late.
    if (owed.length === 0 && !isLeaseAbandoned(resources, now())) return
    // Halted resources keep their state: a lease taken and given back would cost two writes a minute.
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
  /** A slow resource must not use up the time of the next. */
  async function lease(): Promise<boolean> {
    if (now() - leasedAt <= ledger.timings.postLeaseMs / 2) return true
    leasedAt = now()
    return renewResources(ledger, resources, owner, leasedAt)
  }
  for (const resource of owed) {
    // A resource is never given up: the wait grows with each error, and the item names the error.
    const item = { ...resource, owner: resources.owner, errors: Math.min(resource.errors, 3) }
    const outcome = await attemptPost(deps, { ...postingOf(deps, run, resource, failures), item, lease })
    if (outcome === undefined) return 'lost'
    outcomes.push(outcome)
    FAILPOINT: await failpoint('post.resource_kept')
  }
  const recorded = await recordResources(ledger, resources, owner, { outcomes, now: now() })
  if (failures.length > 0) throw failures[0]
  return recorded
}

/** The posting of one resource. Unexpected errors go to `failures`. */
function postingOf(
  deps: PostDeps,
  run: Run,
  resource: ShownResource,
  failures: unknown[],
): Omit<Posting<Kept | { readonly state: 'void' }, ResourceOutcome>, 'item' | 'lease'> {
  const { ledger, documents, now } = deps
  const { kind, key, generation } = resource
  const shown = { kind, key, generation, kept: 'shown' } as const
  const postponed = { kind, key, generation, kept: 'postponed' } as const
  return {
    repository: run.repository,
    logged: { name: 'A resource', fields: { runId: run.runId, key: kind } },
    attempt: (github) =>
      orUnknown(async () => {
        const desired = await getDocument(documents, resource.document, resourceSchema)
        const allowed = await allowedNow(deps, run, resource, desired)
        if (allowed === 'post') return keep(github, run, resource, desired)
        return { state: allowed === 'void' ? 'void' : 'stopped' }
      }),
    async settle(kept, recheckAt) {
      if (kept.state === 'shown') return { ...shown, recheckAt, githubId: kept.id }
      return { ...shown, recheckAt, refused: 'head_superseded: The run was overtaken.' }
    },
    async postpone({ at, error, recheckAt }, because) {
      return { ...postponed, recheckAt, at, error: because?.message, counts: error }
    },
    async giveUp(because, recheckAt) {
      return { ...shown, recheckAt, refused: because.message }
    },
    async unexpected(error) {
      failures.push(error)
      const { recheckMs, postLeaseMs } = ledger.timings
      const sentence = sentenceOf(error).slice(0, 200)
      return { ...postponed, recheckAt: now() + postLeaseMs, at: now() + recheckMs, error: sentence, counts: true }
    },
  }
}

/** Reads everything anew, right before a write that others see. */
async function allowedNow(
  deps: PostDeps,
  run: Run,
  resource: ShownResource,
  desired: Resource,
): Promise<'post' | 'later' | 'void'> {
  const { ledger, github, now } = deps
  const [raisedBy, halt] = await Promise.all([readRun(ledger, resource.runId), standingHalt(ledger, run.repository)])
  // Only a verdict depends on the head, and the question costs a request.
  const pullRequest = raisedBy?.state === 'concluded' ? await github.pullRequest(run.repository, run.number) : undefined
  const allowed = mayPost({ desired, raisedBy, halted: halt !== undefined, pullRequest, now: now() })
  if (allowed !== 'head_moved') return allowed
  if (raisedBy) await endSuperseded(deps, raisedBy, pullRequest)
  return 'later'
}

function keep(github: GitHub, run: Run, resource: ShownResource, desired: Resource): Promise<Kept | Unknown> {
  const { repository, number } = run
  switch (desired.kind) {
    case 'check_run':
      return keepCheckRun(github, repository, desired)
    case 'summary': {
      const place = { repo: repository, repositoryId: repository.id, number, knownId: resource.githubId }
      return keepSummary(github, place, desired, resource.generation)
    }
    case 'label':
      return keepLabel(github, repository, number, desired)
  }
}
