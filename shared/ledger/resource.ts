/**
 * Resources: content that is kept true on GitHub. Any room raises desired content; Post shows the newest generation.
 * One item under one lease holds all resources of a pull request: a poster works through them together, and a run saves
 * ten writes. A raise and a record write different members of the item, so neither waits for the other.
 */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { membersOf, only, type Stored } from '../base/schema.ts'
import type { Run } from '../runs/run.ts'
import { change, due, dueAtOf, type Item, itemAs, keyOf, type Ledger, partAs, read, transact } from './table.ts'

/** Desired content: a member of the item for each resource. */
const wantedSchema = z.object({
  /** `check_run`, `summary`, `label` */
  kind: z.string(),
  /** The head for a check run; `main` for a resource that exists once per pull request. */
  key: z.string(),
  /** The run of the last raise. */
  runId: z.string(),
  /** Document digest of the desired content. */
  document: z.string(),
})
export type ResourceName = Pick<Stored<typeof wantedSchema>, 'kind' | 'key'>

/** A poster's knowledge of a resource: another member of the item. */
const seenSchema = z.object({
  /** The generation that was read back from GitHub; 0 for none. */
  generation: z.number().exactOptional(),
  /** The generation that the errors and the time to try again are about. */
  tried: z.number().exactOptional(),
  githubId: z.number().exactOptional(),
  errors: z.number().exactOptional(),
  lastError: z.string().exactOptional(),
  /** Not to be tried again before, ms UTC: an error's patience, or GitHub's own. A newer generation doesn't wait for it. */
  tryAt: z.number().exactOptional(),
  /**
   * The time of a recheck of shown content, ms UTC; absent without a recheck. This time decides, and no sweep moves it.
   */
  recheckAt: z.number().exactOptional(),
})
type Seen = Stored<typeof seenSchema>

/** A resource, as the members of the item say together. */
export interface ShownResource extends Stored<typeof wantedSchema>, Omit<Seen, 'tried'> {
  /** Of the last raise. */
  readonly generation: number
  readonly shownGeneration: number
  /** Errors with the present generation. */
  readonly errors: number
}

const itemSchema = z.object({
  repositoryId: z.number(),
  number: z.number(),
  /** Raises so far; the generation of each raise. */
  version: z.number(),
  /** The poster under the lease. An owner after the lease's end never gave the lease back. */
  owner: z.string().exactOptional(),
  /** ms UTC; 0 without a holder. */
  leaseUntil: z.number(),
})

/** The resources of a pull request, as their item stands. */
export interface Resources extends Stored<typeof itemSchema> {
  readonly all: readonly ShownResource[]
  /** ms UTC; absent when nothing is due. The sweeper finds resources by this time, and moves the time at each nudge. */
  readonly dueAt?: number
}
export type PullRequestName = Pick<Resources, 'repositoryId' | 'number'>

export interface Raise extends PullRequestName {
  readonly runId: string
  readonly wanted: readonly (ResourceName & { readonly document: string })[]
  /** ms UTC */
  readonly now: number
}

/** The outcome for a resource. `recheckAt` (ms UTC): a PATCH may still land until then, so a recheck follows (IL5). */
export type ResourceOutcome = ResourceName & { readonly recheckAt: number | undefined } & (
    | {
        /**
         * The generation was read back from GitHub, or GitHub will never take the generation (`refused`, a sentence).
         */
        readonly kept: 'shown'
        readonly generation: number
        readonly githubId?: number | undefined
        readonly refused?: string | undefined
      }
    | {
        /** The next try is at `at` (ms UTC). */
        readonly kept: 'postponed'
        readonly generation: number
        readonly at: number
        readonly error?: string | undefined
        /** True if the error counts toward a longer wait. */
        readonly counts: boolean
      }
  )

/** Raises desired content, a new generation for each resource, under any lease; as a member of a transaction. */
export function raiseInTransaction(
  ledger: Ledger,
  raise: Raise,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
  return { Update: raiseUpdate(ledger, raise) }
}

/** Raises desired content in a write of its own. A repetition makes a new generation: same content, shown once more. */
export async function raiseResources(ledger: Ledger, raise: Raise): Promise<void> {
  await ledger.client.send(new UpdateCommand(raiseUpdate(ledger, raise)))
}

/**
 * Raises the final content of an ending run, if its attempt still ends and its thread is at `threadVersion` (undefined
 * for a missing thread): `again` if another run has claimed the pull request meanwhile, which decides the final
 * content. `settled` and no raise if the attempt has ended: from then on the next attempt speaks (IL11).
 */
export async function raiseWhileEnding(
  ledger: Ledger,
  run: Pick<Run, 'runId' | 'attempt' | 'outcome'>,
  threadVersion: number | undefined,
  raise: Raise,
): Promise<'settled' | 'again'> {
  const stillEnding = {
    ConditionCheck: {
      TableName: ledger.table,
      Key: keyOf.run(run.runId),
      ConditionExpression: '#state = :ending AND #attempt = :attempt AND #outcome = :outcome',
      ExpressionAttributeNames: { '#state': 'state', '#attempt': 'attempt', '#outcome': 'outcome' },
      ExpressionAttributeValues: { ':ending': 'ending', ':attempt': run.attempt, ':outcome': run.outcome },
    },
  }
  const sameThread = {
    ConditionCheck: {
      TableName: ledger.table,
      Key: keyOf.thread(raise.repositoryId, raise.number),
      ExpressionAttributeNames: { '#version': 'version' },
      ...(threadVersion === undefined
        ? { ConditionExpression: 'attribute_not_exists(#version)' }
        : { ConditionExpression: '#version = :version', ExpressionAttributeValues: { ':version': threadVersion } }),
    },
  }
  const answer = await transact(ledger, [stillEnding, sameThread, raiseInTransaction(ledger, raise)])
  return answer.done || answer.refused.includes(0) ? 'settled' : 'again'
}

/** The resources of a pull request, read consistently; undefined if nothing was ever desired. */
export async function readResources(ledger: Ledger, name: PullRequestName): Promise<Resources | undefined> {
  return read(ledger, keyOf.resources(name.repositoryId, name.number), resourcesFrom)
}

/**
 * A resource of a pull request; undefined if no run desires the resource, or after the settlement for a head that has
 * passed.
 */
export function resourceIn(resources: Resources | undefined, name: ResourceName): ShownResource | undefined {
  return resources?.all.find(({ kind, key }) => kind === name.kind && key === name.key)
}

/** Leases all resources for `owner` if no lease is live at `now`. A lease keeps no room from raising. */
export async function leaseResources(
  ledger: Ledger,
  resources: Resources,
  owner: string,
  now: number,
): Promise<boolean> {
  if (resources.leaseUntil > now && resources.owner !== owner) return false
  return lease(ledger, resources, owner, { now, if: { owner: resources.owner, leaseUntil: resources.leaseUntil } })
}

/** Holds the lease on for one more lease's time; false if another has taken it over. */
export async function renewResources(
  ledger: Ledger,
  resources: Resources,
  owner: string,
  now: number,
): Promise<boolean> {
  return lease(ledger, resources, owner, { now, if: { owner } })
}

/**
 * Records the outcomes and gives the lease back, in one write. `raised` if a room raised content meanwhile, which is
 * due at once. `lost` and no record for a poster that was replaced.
 */
export async function recordResources(
  ledger: Ledger,
  resources: Resources,
  owner: string,
  record: { readonly outcomes: readonly ResourceOutcome[]; readonly now: number },
): Promise<'recorded' | 'raised' | 'lost'> {
  const key = keyOf.resources(resources.repositoryId, resources.number)
  let current = resources
  for (;;) {
    const all = current.all.map((resource) => after(resource, record.outcomes))
    const gone = all.filter((resource) => isPast(resource, all))
    const left = all.filter((resource) => !gone.includes(resource))
    const dueAt = Math.min(...left.map((resource) => nextAt(resource, record.now)))
    const nothingDue = dueAt === Infinity
    const written = await change(ledger, key, {
      set: {
        leaseUntil: 0,
        ...Object.fromEntries(left.map((resource) => [memberOf('shown', resource), shownOf(resource)])),
        ...(nothingDue ? {} : due(key, dueAt)),
      },
      remove: [
        'owner',
        ...gone.flatMap((resource) => MEMBERS.map((member) => memberOf(member, resource))),
        ...(nothingDue ? ['duePk', 'dueAt'] : []),
      ],
      if: { owner, version: current.version },
    })
    if (written.done) return current.version === resources.version ? 'recorded' : 'raised'
    if (!written.item || written.item.owner !== owner) return 'lost'
    current = resourcesFrom(written.item)
  }
}

/** The run whose resource is due first; undefined if nothing is due. */
export function nextRunOf({ all }: Resources): string | undefined {
  return all.toSorted((a, b) => nextAt(a, 0) - nextAt(b, 0))[0]?.runId
}

/** The resources of a pull request from their item. */
export function resourcesFrom(item: Item): Resources {
  const dueAt = dueAtOf(item)
  const all = Object.entries(item).flatMap(([member, value]) =>
    member.startsWith('wanted_') ? [resourceFrom(item, partAs(wantedSchema, item, value))] : [],
  )
  return {
    ...only(itemAs(itemSchema, item), membersOf(itemSchema.shape)),
    all,
    ...(dueAt === undefined ? {} : { dueAt }),
  }
}

/**
 * Members of the item for each resource: desired content, its generation, and a poster's knowledge. The members stand
 * beside each other because a raise can't set a member of a missing map.
 */
const MEMBERS = ['wanted', 'generation', 'shown'] as const

function memberOf(member: (typeof MEMBERS)[number], { kind, key }: ResourceName): string {
  return `${member}_${kind}_${key}`
}

function resourceFrom(item: Item, wanted: Stored<typeof wantedSchema>): ShownResource {
  const generation = partAs(z.number(), item, item[memberOf('generation', wanted)])
  const seen = partAs(seenSchema.optional(), item, item[memberOf('shown', wanted)])
  const { generation: shownGeneration = 0, tried = 0, errors = 0, tryAt, ...kept } = seen ?? {}
  return {
    ...wanted,
    ...kept,
    generation,
    shownGeneration,
    errors: tried === generation ? errors : 0,
    ...(tried === generation && tryAt !== undefined ? { tryAt } : {}),
  }
}

function shownOf(resource: ShownResource): Item {
  const { shownGeneration, generation, githubId, errors, lastError, tryAt, recheckAt } = resource
  return { generation: shownGeneration, tried: generation, githubId, errors, lastError, tryAt, recheckAt }
}

/** The resource after its outcome; unchanged without an outcome. */
function after(resource: ShownResource, outcomes: readonly ResourceOutcome[]): ShownResource {
  const outcome = outcomes.find(({ kind, key }) => kind === resource.kind && key === resource.key)
  if (!outcome) return resource
  const { recheckAt: _looked, tryAt: _tried, lastError: _error, ...kept } = resource
  const looked = outcome.recheckAt === undefined ? kept : { ...kept, recheckAt: outcome.recheckAt }
  if (outcome.kept === 'shown') {
    return {
      ...looked,
      shownGeneration: outcome.generation,
      errors: 0,
      ...(outcome.githubId === undefined ? {} : { githubId: outcome.githubId }),
      ...(outcome.refused === undefined ? {} : { lastError: outcome.refused }),
    }
  }
  // The tried content is no longer desired: the newer generation begins without errors.
  if (outcome.generation !== resource.generation) return looked
  return {
    ...looked,
    tryAt: outcome.at,
    errors: resource.errors + (outcome.counts ? 1 : 0),
    ...(outcome.error === undefined ? {} : { lastError: outcome.error }),
  }
}

/** When something is to be done about it, ms UTC; Infinity if nothing is. */
function nextAt({ generation, shownGeneration, tryAt, recheckAt }: ShownResource, now: number): number {
  return Math.min(shownGeneration < generation ? (tryAt ?? now) : Infinity, recheckAt ?? Infinity)
}

/** True for a settled check run whose head has passed: the check run is forgotten, so that the item stays small. */
function isPast(resource: ShownResource, all: readonly ShownResource[]): boolean {
  if (resource.kind !== 'check_run' || nextAt(resource, 0) !== Infinity) return false
  return all.some(({ kind, generation }) => kind === 'check_run' && generation > resource.generation)
}

async function lease(
  ledger: Ledger,
  resources: PullRequestName,
  owner: string,
  wanted: { now: number; if: Item },
): Promise<boolean> {
  const key = keyOf.resources(resources.repositoryId, resources.number)
  const leaseUntil = wanted.now + ledger.timings.postLeaseMs
  return (await change(ledger, key, { set: { owner, leaseUntil, ...due(key, leaseUntil) }, if: wanted.if })).done
}

function raiseUpdate(ledger: Ledger, { repositoryId, number, runId, wanted, now }: Raise) {
  const key = keyOf.resources(repositoryId, number)
  const names: Record<string, string> = { '#version': 'version', '#leaseUntil': 'leaseUntil' }
  const values: Record<string, unknown> = { ':zero': 0, ':one': 1 }
  const sets = ['#version = if_not_exists(#version, :zero) + :one', '#leaseUntil = if_not_exists(#leaseUntil, :zero)']
  const { duePk, dueAt } = due(key, now + ledger.timings.recheckMs)
  for (const [member, value] of Object.entries({ repositoryId, number, duePk, dueAt })) {
    names[`#${member}`] = member
    values[`:${member}`] = value
    sets.push(`#${member} = :${member}`)
  }
  for (const [index, { kind, key: name, document }] of wanted.entries()) {
    names[`#w${index}`] = memberOf('wanted', { kind, key: name })
    names[`#g${index}`] = memberOf('generation', { kind, key: name })
    values[`:w${index}`] = { kind, key: name, runId, document }
    sets.push(`#w${index} = :w${index}`, `#g${index} = if_not_exists(#version, :zero) + :one`)
  }
  return {
    TableName: ledger.table,
    Key: key,
    UpdateExpression: `SET ${sets.join(', ')}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }
}
