/**
 * Runs in the ledger: accepted once per cause, claimed in one transaction, held, asked for again, and ended in a single
 * way.
 */
import * as z from 'zod'
import { AWAITED_BY_MAX, RETENTION_S } from '../base/limits.ts'
import { without } from '../base/schema.ts'
import {
  isLive,
  laterOf,
  meaningOf,
  OF_ATTEMPT,
  type Reason,
  type Run,
  type RunOutcome,
  type RunRequest,
  raisedRun,
  remember,
  requestAgain,
  runSchema,
} from '../runs/run.ts'
import { type Raise, raiseInTransaction } from './resource.ts'
import {
  type Change,
  change,
  changeInTransaction,
  contended,
  contentAs,
  create,
  due,
  type Item,
  keyOf,
  type Ledger,
  read,
  type Transacted,
  transact,
} from './table.ts'

/** The outcome of accepting a request. `attempt` of the run is the attempt to start. */
export interface Accepted {
  readonly kind: 'created' | 'joined' | 'raised' | 'replayed' | 'conflict'
  readonly run: Run
}

/**
 * Writes the run of a request once, for any number of requests: a conditional put on its id, or the delivery's meaning
 * for the existing run. `writer` is a fresh nonce. `conflict` has changed nothing (LE15).
 */
export async function acceptRun(
  ledger: Ledger,
  request: RunRequest,
  options: { deliveryId: string; writer: string; now: number; signal: AbortSignal },
): Promise<Accepted> {
  const { deliveryId, writer, now, signal } = options
  const key = keyOf.run(request.runId)
  const dueAt = now + ledger.timings.recheckMs
  const fresh: Run = {
    ...request,
    attempt: 1,
    state: 'accepted',
    acceptedAt: now,
    deliveries: [deliveryId],
    version: 1,
  }
  return contended(async () => {
    const written = await create(ledger, { ...key, ...fresh, ...due(key, dueAt), ...listed(now), writer }, signal)
    if (written.done) return { kind: 'created', run: fresh }
    const run = written.item ? runFrom(written.item) : await readRun(ledger, request.runId, signal)
    if (!run) return 'again'

    const meaning = meaningOf(run, request, deliveryId)
    if (meaning === 'conflict') return { kind: 'conflict', run }
    if (meaning === 'replay') return { kind: 'replayed', run }
    const deliveries = remember(run.deliveries, deliveryId)
    if (meaning === 'raise') {
      const raised = raisedRun(run, request, deliveries, now)
      return (await raise(ledger, run, raised, { dueAt, listedAt: now, signal }))
        ? { kind: 'raised', run: raised }
        : 'again'
    }
    const members =
      meaning === 'join'
        ? { deliveries, eventAt: Math.max(run.eventAt, request.eventAt) }
        : { deliveries, askedAgain: laterOf(run.askedAgain, request) }
    const joined = await changed(ledger, run, members, { signal })
    return joined ? { kind: 'joined', run: joined } : 'again'
  })
}

/** The run, read consistently; undefined for an unknown id. */
export async function readRun(ledger: Ledger, runId: string, signal?: AbortSignal): Promise<Run | undefined> {
  return read(ledger, keyOf.run(runId), runFrom, signal)
}

/** Sets members of a run at the version as read, and postpones the run; false after a concurrent change. */
export async function updateRun(
  ledger: Ledger,
  run: Run,
  members: Partial<Pick<Run, 'state' | 'reason' | 'outcome' | 'plan' | 'planKey' | 'token' | 'attempt' | 'verdict'>>,
  options: { now: number; remove?: typeof OF_ATTEMPT },
): Promise<Run | undefined> {
  const { now, remove } = options
  return changed(ledger, run, members, { dueAt: now + ledger.timings.recheckMs, remove })
}

/**
 * Stores the plan of a run that is as it was read, and raises `wanted`, all at once; undefined if the run changed meanwhile.
 * A plan whose verdict is known already raises nothing.
 */
export async function writePlan(
  ledger: Ledger,
  run: Run,
  plan: Pick<Run, 'pools'> & {
    readonly digest: string
    readonly planKey: string
    readonly wanted: Raise['wanted']
    readonly now: number
  },
): Promise<Run | undefined> {
  const { digest, planKey, pools, wanted, now } = plan
  const members = { plan: digest, planKey, ...(pools ? { pools } : {}), version: run.version + 1 }
  const answer = await contended(async () => {
    const written = await changedAndRaised(ledger, run, { set: members }, { wanted, now })
    return !written.done && written.refused.length === 0 ? 'again' : written
  })
  return answer.done ? { ...run, ...members } : undefined
}

/**
 * Marks a run as parked, or removes the mark (undefined), and raises `wanted`, if the run is as read. The write checks
 * no halt: Post shows nothing under a halt, and hundreds of parked runs would refuse each other at the halts' item.
 */
export async function writeParked(
  ledger: Ledger,
  run: Run,
  parked: Run['parked'],
  raise: Pick<Raise, 'wanted' | 'now'>,
): Promise<'done' | 'again'> {
  const set = { version: run.version + 1, parked }
  const written = await changedAndRaised(ledger, run, { set, ...(parked ? {} : { remove: ['parked'] }) }, raise)
  return written.done ? 'done' : 'again'
}

/** Who asks for a run again, and as of when; times are ms UTC. */
export interface AskingAgain {
  /** The name of the request: a repetition changes nothing (I9). */
  readonly askedId: string
  /** The time at which the head was live. */
  readonly eventAt: number
  /** The event of the live run so far: this event supersedes a live run of an earlier event. */
  readonly after: number
}

/** Outcomes that depend on GitHub's state: they end when GitHub shows the head again in an open pull request. */
const OVERTAKEN: readonly (RunOutcome | undefined)[] = ['superseded', 'closed']

/**
 * Asks for another attempt of a superseded or closed run, due at once: the sweeper starts the attempt. A live run that
 * would end so learns that its head is of `eventAt`. False for any other run, and for an unknown id.
 */
export async function askAgain(ledger: Ledger, runId: string, asking: AskingAgain, now: number): Promise<boolean> {
  const { askedId, after } = asking
  return contended(async () => {
    const run = await readRun(ledger, runId)
    if (!run || run.deliveries.includes(askedId)) return false
    if (isLive(run.state) ? run.eventAt >= after : !OVERTAKEN.includes(run.outcome)) return false
    const deliveries = remember(run.deliveries, askedId)
    const eventAt = Math.max(run.eventAt, asking.eventAt)
    const request = { ...requestAgain(run), eventAt }
    if (run.state === 'ended') {
      return (await raise(ledger, run, raisedRun(run, request, deliveries, now), { dueAt: now })) || 'again'
    }
    const learned = run.state === 'ending' ? { askedAgain: laterOf(run.askedAgain, request) } : { eventAt }
    return (await changed(ledger, run, { ...learned, deliveries })) ? true : 'again'
  })
}

/**
 * Makes a run of that attempt wait: `held`, and due again later. Undefined for another attempt, and for a concluded or
 * ending run, which goes on by itself. Repeatable.
 */
export async function writeHeld(
  ledger: Ledger,
  run: { readonly runId: string; readonly attempt: number },
  reason: Reason,
  now: number,
): Promise<Run | undefined> {
  return contended(async () => {
    const current = await readRun(ledger, run.runId)
    if (current?.attempt !== run.attempt) return undefined
    if (current.state === 'held') return current
    if (current.state !== 'accepted' && current.state !== 'running') return undefined
    const dueAt = now + ledger.timings.recheckMs
    return (await changed(ledger, current, { state: 'held', reason }, { dueAt })) ?? 'again'
  })
}

/** Resumes a held run as its next attempt, which checks its head anew; undefined after a concurrent change. */
export async function resumeRun(ledger: Ledger, run: Run, now: number): Promise<Run | undefined> {
  if (run.state !== 'held') return undefined
  const { acceptedAt } = run
  // The resumed run keeps the turn of its first attempt: it has waited long enough.
  const resumed = { ...raisedRun(run, requestAgain(run), run.deliveries, now), acceptedAt }
  return (await raise(ledger, run, resumed, { dueAt: now + ledger.timings.recheckMs })) ? resumed : undefined
}

/** Makes a held run due at `now` (ms UTC), so that the next sweep takes the run up. Repeatable. */
export async function wakeRun(ledger: Ledger, runId: string, now: number): Promise<void> {
  const run = await readRun(ledger, runId)
  if (run?.state !== 'held') return
  await change(ledger, keyOf.run(runId), { set: due(keyOf.run(runId), now), if: { version: run.version } })
}

/** Asks a live run to wake `waiting` at its end; false for an ended run, which wakes no run. Repeatable. */
export async function awaitEnd(ledger: Ledger, runId: string, waiting: string): Promise<boolean> {
  return contended(async () => {
    const run = await readRun(ledger, runId)
    if (!run || !isLive(run.state)) return false
    const { awaitedBy = [] } = run
    if (awaitedBy.includes(waiting)) return true
    // A run that is dropped from the list is found by its own `dueAt`.
    const more = [...awaitedBy, waiting].slice(-AWAITED_BY_MAX)
    return (await changed(ledger, run, { awaitedBy: more })) ? true : 'again'
  })
}

/**
 * Turns a live run of that attempt into an ending one; false if it isn't live or at another attempt (IL11).
 * From then on nothing new of this run takes effect; `finishEnding` completes it. `eventAt` (ms UTC) is that of the event
 * which ends it: a run that was asked for after that is left alone, and one of the same second, in which GitHub tells no
 * order, is asked for once more, so that its next attempt sees how it is at GitHub (D3). `asOf` is the run's own event (ms UTC)
 * as it was when GitHub was asked: one that has joined a later event since is asked for once more too (IL1), and so is one if `asksAgain` says so.
 */
export async function beginEnding(
  ledger: Ledger,
  run: { runId: string; attempt: number },
  ending: { outcome: RunOutcome; reason: Reason; now: number; eventAt?: number; asOf?: number; asksAgain?: boolean },
): Promise<boolean> {
  const { outcome, reason, eventAt = Infinity, asOf = Infinity, asksAgain = false } = ending
  return contended(async () => {
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || current.state === 'ended') return false
    if (current.state === 'ending') return true
    if (current.eventAt > eventAt) return false
    const isUnsettled = asksAgain || current.eventAt === eventAt || current.eventAt > asOf
    const asked = isUnsettled ? { askedAgain: requestAgain(current) } : {}
    const begun = await changed(ledger, current, { state: 'ending', outcome, reason, ...asked }, { dueAt: ending.now })
    return begun ? true : 'again'
  })
}

/**
 * Ends a run: nothing more happens to the run in this attempt. Repeatable. A run that was asked for again meanwhile is
 * accepted for its next attempt instead, and due at once: the sweeper starts the attempt.
 */
export async function endRun(
  ledger: Ledger,
  run: Run,
  end: { outcome: RunOutcome; reason?: Reason; now: number },
): Promise<boolean> {
  const { outcome, reason, now } = end
  if (run.askedAgain) {
    return raise(ledger, run, raisedRun(run, run.askedAgain, run.deliveries, now), { dueAt: now })
  }
  const written = await change(ledger, keyOf.run(run.runId), {
    set: { state: 'ended', outcome, reason, version: run.version + 1, expiresAt: Math.floor(now / 1000) + RETENTION_S },
    remove: ['duePk', 'dueAt', 'token'],
    if: { version: run.version },
  })
  return written.done
}

/** Reads a run from an item. */
export function runFrom(item: Item): Run {
  return without(contentAs(itemSchema, item), ['writer'])
}

const itemSchema = runSchema.extend({ writer: z.string().exactOptional() })

/**
 * Changes a run that is as read, and postpones the run if a time is given; returns the run, undefined after a
 * concurrent change.
 */
async function changed(
  ledger: Ledger,
  run: Run,
  members: Partial<Run>,
  options: {
    readonly dueAt?: number
    readonly remove?: typeof OF_ATTEMPT | undefined
    readonly signal?: AbortSignal
  } = {},
): Promise<Run | undefined> {
  const { dueAt, remove = [], signal } = options
  const key = keyOf.run(run.runId)
  const next = { ...members, version: run.version + 1 }
  const set = { ...next, ...(dueAt === undefined ? {} : due(key, dueAt)) }
  const written = await change(ledger, key, { set, remove, if: { version: run.version } }, signal)
  return written.done ? without({ ...run, ...next }, remove) : undefined
}

/** Changes a run that is as read, and raises the content of its pull request: both, or neither. */
function changedAndRaised(
  ledger: Ledger,
  run: Run,
  { set, remove = [] }: Pick<Change, 'set' | 'remove'>,
  { wanted, now }: Pick<Raise, 'wanted' | 'now'>,
): Promise<Transacted> {
  const { repository, number, runId, version } = run
  const key = keyOf.run(runId)
  const dueAt = now + ledger.timings.recheckMs
  const raise = { repositoryId: repository.id, number, runId, wanted, now }
  return transact(ledger, [
    changeInTransaction(ledger, key, { set: { ...set, ...due(key, dueAt) }, remove, if: { version } }),
    ...(wanted.length > 0 ? [raiseInTransaction(ledger, raise)] : []),
  ])
}

/** Raises a run that is as read to its next attempt, without members of the last attempt. */
async function raise(
  ledger: Ledger,
  run: Run,
  raised: Run,
  { dueAt, listedAt, signal }: { readonly dueAt: number; readonly listedAt?: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  const key = keyOf.run(run.runId)
  const set = { ...raised, ...due(key, dueAt), ...(listedAt === undefined ? {} : listed(listedAt)) }
  const remove = [...OF_ATTEMPT, 'expiresAt']
  return (await change(ledger, key, { set, remove, if: { version: run.version } }, signal)).done
}

/** For people: the day's runs, newest last. */
function listed(now: number): { listedPk: string; listedAt: string } {
  const at = new Date(now).toISOString()
  return { listedPk: `DAY#${at.slice(0, 10)}`, listedAt: at }
}
