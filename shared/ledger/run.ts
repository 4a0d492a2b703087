/** Runs in the ledger: accepted once per cause, claimed in one transaction, ended by one way. */
import { RETENTION_S } from '../base/limits.ts'
import {
  meaningOf,
  type Reason,
  type Run,
  type RunOutcome,
  type RunRequest,
  remember,
  requestAgain,
} from '../runs/run.ts'
import { change, contended, create, due, type Item, keyOf, type Ledger, read } from './table.ts'

/** What accepting a request came to. `attempt` of the run is the one to start. */
export interface Accepted {
  readonly kind: 'created' | 'joined' | 'raised' | 'replayed' | 'conflict'
  readonly run: Run
}

/**
 * Writes the run of a request once, whoever asks and how often: a conditional put on its id, else what the delivery
 * means for the run that is there. `writer` is a fresh nonce. `conflict` has changed nothing (LE15).
 */
export async function acceptRun(
  ledger: Ledger,
  request: RunRequest,
  options: { deliveryId: string; writer: string; now: number; signal: AbortSignal },
): Promise<Accepted> {
  const { deliveryId, writer, now, signal } = options
  const key = keyOf.run(request.runId)
  const fresh: Run = {
    ...request,
    attempt: 1,
    state: 'accepted',
    acceptedAt: now,
    deliveries: [deliveryId],
    version: 1,
  }
  return contended(async () => {
    const written = await create(
      ledger,
      { ...key, ...itemOf(fresh), ...due(key, now + ledger.timings.recheckMs), ...listed(now), writer },
      signal,
    )
    if (written.done) return { kind: 'created', run: fresh }
    const run = (written.item ? runFrom(written.item) : undefined) ?? (await readRun(ledger, request.runId, signal))
    if (!run) return 'again'

    const meaning = meaningOf(run, request, deliveryId)
    if (meaning === 'conflict') return { kind: 'conflict', run }
    if (meaning === 'replay') return { kind: 'replayed', run }
    const deliveries = remember(run.deliveries, deliveryId)
    if (meaning === 'join' || meaning === 'raise_when_ended') {
      const members =
        meaning === 'join'
          ? { deliveries, eventAt: Math.max(run.eventAt, request.eventAt) }
          : { deliveries, askedAgain: laterOf(run.askedAgain, request) }
      const joined = await change(
        ledger,
        key,
        { set: { ...members, version: run.version + 1 }, if: { version: run.version } },
        signal,
      )
      return joined.done ? { kind: 'joined', run: { ...run, ...members, version: run.version + 1 } } : 'again'
    }
    const raised = raisedRun(run, request, deliveries, now)
    const done = await change(
      ledger,
      key,
      {
        set: { ...itemOf(raised), ...due(key, now + ledger.timings.recheckMs), ...listed(now) },
        remove: [...OF_EARLIER_ATTEMPT, 'expiresAt'],
        if: { version: run.version },
      },
      signal,
    )
    return done.done ? { kind: 'raised', run: raised } : 'again'
  })
}

/** The later of two requests for the same run; it opens a series if either does. */
export function laterOf(earlier: RunRequest | undefined, request: RunRequest): RunRequest {
  if (!earlier) return request
  const opensSeries = earlier.opensSeries || request.opensSeries
  return { ...(earlier.eventAt > request.eventAt ? earlier : request), opensSeries }
}

/** What a run knows of an attempt, and doesn't take over into the next one. */
export const OF_EARLIER_ATTEMPT = [
  'outcome',
  'reason',
  'verdict',
  'token',
  'plan',
  'planKey',
  'pools',
  'parked',
  'askedAgain',
] as const

/** The run, read consistently; undefined if there is none. */
export async function readRun(ledger: Ledger, runId: string, signal?: AbortSignal): Promise<Run | undefined> {
  const item = await read<Item>(ledger, keyOf.run(runId), signal)
  return item && runFrom(item)
}

/** Sets members of a run at the version that was read; false if someone changed it meanwhile. Moves `due` on. */
export async function updateRun(
  ledger: Ledger,
  run: Run,
  members: Partial<Pick<Run, 'state' | 'reason' | 'outcome' | 'plan' | 'planKey' | 'token' | 'attempt' | 'verdict'>>,
  options: { now: number; remove?: readonly (keyof Run)[] },
): Promise<Run | undefined> {
  const key = keyOf.run(run.runId)
  const version = run.version + 1
  const written = await change(ledger, key, {
    set: { ...members, version, ...due(key, options.now + ledger.timings.recheckMs) },
    ...(options.remove ? { remove: options.remove } : {}),
    if: { version: run.version },
  })
  if (!written.done) return undefined
  const next: Record<string, unknown> = { ...run, ...members, version }
  for (const member of options.remove ?? []) delete next[member]
  return next as unknown as Run
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
    const key = keyOf.run(run.runId)
    const written = await change(ledger, key, {
      set: {
        state: 'ending',
        outcome,
        reason,
        askedAgain: isUnsettled ? requestAgain(current) : undefined,
        version: current.version + 1,
        ...due(key, ending.now),
      },
      if: { version: current.version },
    })
    return written.done ? true : 'again'
  })
}

/**
 * The end of a run: nothing more will happen to it in this attempt. Repeatable. One that was asked for again meanwhile
 * is accepted for its next attempt instead, and due at once: the sweeper starts it.
 */
export async function endRun(
  ledger: Ledger,
  run: Run,
  end: { outcome: RunOutcome; reason?: Reason; now: number },
): Promise<boolean> {
  if (run.askedAgain) {
    const key = keyOf.run(run.runId)
    const raised = raisedRun(run, run.askedAgain, run.deliveries, end.now)
    const again = await change(ledger, key, {
      set: { ...itemOf(raised), ...due(key, end.now) },
      remove: OF_EARLIER_ATTEMPT,
      if: { version: run.version },
    })
    return again.done
  }
  const written = await change(ledger, keyOf.run(run.runId), {
    set: {
      state: 'ended',
      outcome: end.outcome,
      reason: end.reason,
      version: run.version + 1,
      expiresAt: Math.floor(end.now / 1000) + RETENTION_S,
    },
    remove: ['duePk', 'dueAt', 'token'],
    if: { version: run.version },
  })
  return written.done
}

/** A run from its item, without the table's own attributes. */
export function runFrom(item: Item): Run {
  const {
    pk: _pk,
    sk: _sk,
    writer: _writer,
    duePk: _duePk,
    dueAt: _dueAt,
    listedPk: _l,
    listedAt: _a,
    expiresAt: _e,
    ...run
  } = item
  return run as unknown as Run
}

/** A run as members of its item. */
export function itemOf(run: Run): Item {
  return { ...run }
}

/**
 * The next attempt of a run, for that request. Its event never gets earlier: who asks late, by a delivery that comes again or
 * a command that waited, would else have it ended by a closing that its reopening came after (D3).
 */
export function raisedRun(run: Run, request: RunRequest, deliveries: readonly string[], now: number): Run {
  const {
    outcome: _o,
    reason: _r,
    verdict: _v,
    token: _t,
    plan: _p,
    planKey: _k,
    pools: _pools,
    parked: _parked,
    askedAgain: _a,
    ...kept
  } = run
  return {
    ...kept,
    ...request,
    eventAt: Math.max(run.eventAt, request.eventAt),
    attempt: run.attempt + 1,
    state: 'accepted',
    acceptedAt: now,
    deliveries,
    version: run.version + 1,
  }
}

/** For people: the day's runs, newest last. */
function listed(now: number): { listedPk: string; listedAt: string } {
  const at = new Date(now).toISOString()
  return { listedPk: `DAY#${at.slice(0, 10)}`, listedAt: at }
}
