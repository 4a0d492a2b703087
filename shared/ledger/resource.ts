/** Resources: what is kept true on GitHub. Any room raises what is desired; post shows the newest generation. */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { change, contended, due, keyOf, type Ledger, read, transact } from './table.ts'

export interface ResourceName {
  readonly repositoryId: number
  readonly number: number
  /** `check_run`, `summary`, `label` */
  readonly kind: string
  /** The head for a check run; `main` where there is one per pull request. */
  readonly key: string
}

export interface ShownResource extends ResourceName {
  /** The run that raised it last. */
  readonly runId: string
  /** Document digest of what is desired. */
  readonly document: string
  readonly generation: number
  /** The generation that was read back from GitHub; 0 for none. */
  readonly shownGeneration: number
  readonly owner?: string
  /** ms UTC; 0 when nobody holds it. */
  readonly leaseUntil: number
  readonly githubId?: number
  readonly errors: number
  readonly lastError?: string
  /** ms UTC; absent when nothing is due. It finds the resource: the sweeper moves it on each time it nudges. */
  readonly dueAt?: number
  /** When what was shown is to be looked at a second time, ms UTC; absent when it isn't. It decides, and nobody moves it. */
  readonly lookAt?: number
}

export interface Raise extends ResourceName {
  readonly runId: string
  readonly document: string
  readonly now: number
}

/** Raises what is desired, unconditionally a new generation; as a member of a transaction. */
export function raiseInTransaction(
  ledger: Ledger,
  raise: Raise,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
  return { Update: raiseUpdate(ledger, raise) }
}

/** Raises what is desired, on its own. Not repeatable without a new generation: same content, one more showing. */
export async function raiseResource(ledger: Ledger, raise: Raise): Promise<void> {
  await ledger.client.send(new UpdateCommand(raiseUpdate(ledger, raise)))
}

/** Raises what an ending run leaves behind; nothing if that attempt has ended meanwhile: the next one speaks then (IL11). */
export async function raiseWhileEnding(
  ledger: Ledger,
  run: { readonly runId: string; readonly attempt: number },
  raise: Raise,
): Promise<void> {
  const stillEnding = {
    ConditionCheck: {
      TableName: ledger.table,
      Key: keyOf.run(run.runId),
      ConditionExpression: '#state = :ending AND #attempt = :attempt',
      ExpressionAttributeNames: { '#state': 'state', '#attempt': 'attempt' },
      ExpressionAttributeValues: { ':ending': 'ending', ':attempt': run.attempt },
    },
  }
  await contended(async () => {
    const answer = await transact(ledger, [stillEnding, raiseInTransaction(ledger, raise)])
    return !answer.done && answer.conflict ? 'again' : 'settled'
  })
}

/** One resource; undefined if nothing was ever desired. */
export async function readResource(ledger: Ledger, name: ResourceName): Promise<ShownResource | undefined> {
  return read<ShownResource>(ledger, keyOf.resource(name.repositoryId, name.number, name.kind, name.key))
}

/** Takes the resource's lease for `owner` if nobody's is live at `now`. Who desires more meanwhile isn't kept from it. */
export async function leaseResource(
  ledger: Ledger,
  resource: ShownResource,
  owner: string,
  now: number,
): Promise<boolean> {
  if (resource.leaseUntil > now && resource.owner !== owner) return false
  const key = keyOf.resource(resource.repositoryId, resource.number, resource.kind, resource.key)
  const written = await change(ledger, key, {
    set: { owner, leaseUntil: now + ledger.timings.postLeaseMs, ...due(key, now + ledger.timings.postLeaseMs) },
    if: { owner: resource.owner, leaseUntil: resource.leaseUntil },
  })
  return written.done
}

/**
 * Records that the generation was read back from GitHub, or that GitHub will never take it (`refused`, a sentence). If it is still the newest, nothing more is due, unless a second
 * look is wanted at `lookAgainAt` (ms UTC): after a takeover or an unanswered call, a PATCH may still land (IL5).
 */
export async function recordShown(
  ledger: Ledger,
  resource: ShownResource,
  owner: string,
  shown: { githubId?: number | undefined; lookAgainAt?: number | undefined; refused?: string; now: number },
): Promise<void> {
  const key = keyOf.resource(resource.repositoryId, resource.number, resource.kind, resource.key)
  const members = {
    shownGeneration: resource.generation,
    githubId: shown.githubId,
    lastError: shown.refused,
    leaseUntil: 0,
    errors: 0,
  }
  const settled = await change(
    ledger,
    key,
    shown.lookAgainAt === undefined
      ? { set: members, remove: ['duePk', 'dueAt', 'lookAt', 'owner'], if: { owner, generation: resource.generation } }
      : {
          set: { ...members, lookAt: shown.lookAgainAt, ...due(key, shown.lookAgainAt) },
          remove: ['owner'],
          if: { owner, generation: resource.generation },
        },
  )
  if (settled.done) return
  // A newer generation came while this one was shown: it is due at once, and the second look after that.
  const next = { ...members, lookAt: shown.lookAgainAt, ...due(key, shown.now) }
  await change(ledger, key, { set: next, remove: ['owner'], if: { owner } })
}

/** Gives the resource back to be looked at again at `at` (ms UTC); `lookAt` as in ShownResource. */
export async function postponeResource(
  ledger: Ledger,
  resource: ShownResource,
  owner: string,
  options: { at: number; error?: string | undefined; counts?: boolean; lookAt?: number | undefined },
): Promise<void> {
  const key = keyOf.resource(resource.repositoryId, resource.number, resource.kind, resource.key)
  await change(ledger, key, {
    set: {
      leaseUntil: 0,
      errors: resource.errors + (options.error === undefined || options.counts === false ? 0 : 1),
      lastError: options.error,
      lookAt: options.lookAt,
      ...due(key, options.at),
    },
    remove: ['owner'],
    if: { owner },
  })
}

function raiseUpdate(ledger: Ledger, raise: Raise) {
  const key = keyOf.resource(raise.repositoryId, raise.number, raise.kind, raise.key)
  const { duePk, dueAt } = due(key, raise.now + ledger.timings.lookMs)
  return {
    TableName: ledger.table,
    Key: key,
    UpdateExpression:
      'SET #generation = if_not_exists(#generation, :zero) + :one, #shownGeneration = if_not_exists(#shownGeneration, :zero), ' +
      '#leaseUntil = if_not_exists(#leaseUntil, :zero), #errors = :zero, #document = :document, #runId = :runId, ' +
      '#repositoryId = :repositoryId, #number = :number, #kind = :kind, #key = :key, #duePk = :duePk, #dueAt = :dueAt',
    ExpressionAttributeNames: Object.fromEntries(
      [
        'generation',
        'shownGeneration',
        'leaseUntil',
        'errors',
        'document',
        'runId',
        'repositoryId',
        'number',
        'kind',
        'key',
        'duePk',
        'dueAt',
      ].map((member) => [`#${member}`, member]),
    ),
    ExpressionAttributeValues: {
      ':zero': 0,
      ':one': 1,
      ':document': raise.document,
      ':runId': raise.runId,
      ':repositoryId': raise.repositoryId,
      ':number': raise.number,
      ':kind': raise.kind,
      ':key': raise.key,
      ':duePk': duePk,
      ':dueAt': dueAt,
    },
  }
}
