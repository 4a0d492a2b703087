/** Runs that go on: asked for once more, resumed after they were held, woken by what they waited for. */
import { AWAITED_BY_MAX } from '../base/limits.ts'
import { isLive, type Reason, type Run, type RunOutcome, remember, requestAgain } from '../runs/run.ts'
import { itemOf, laterOf, OF_EARLIER_ATTEMPT, raisedRun, readRun } from './run.ts'
import { change, contended, due, keyOf, type Ledger } from './table.ts'

/** Who asks for a run again, and as of when; times are ms UTC. */
export interface AskingAgain {
  /** Names the asking: the same one again changes nothing (I9). */
  readonly askedId: string
  /** When its head was seen to be live. */
  readonly eventAt: number
  /** The event of the run that has spoken so far: a live run of an earlier one would be superseded by it. */
  readonly after: number
}

/** Outcomes that say how GitHub was: where it shows that head again, and open, they hold no more. */
const OVERTAKEN: readonly (RunOutcome | undefined)[] = ['superseded', 'closed']

/**
 * Asks for another attempt of a run that was superseded or closed, due at once: the sweeper starts it. A live one that would be learns
 * that its head is of `eventAt`. False if the run is live anyway, ended otherwise, or not there.
 */
export async function askAgain(ledger: Ledger, runId: string, asking: AskingAgain, now: number): Promise<boolean> {
  const { askedId, after } = asking
  return contended(async () => {
    const run = await readRun(ledger, runId)
    if (!run || run.deliveries.includes(askedId)) return false
    if (isLive(run.state) ? run.eventAt >= after : !OVERTAKEN.includes(run.outcome)) return false
    const key = keyOf.run(runId)
    const deliveries = remember(run.deliveries, askedId)
    const eventAt = Math.max(run.eventAt, asking.eventAt)
    const request = { ...requestAgain(run), eventAt }
    const written =
      run.state !== 'ended'
        ? await change(ledger, key, {
            set: {
              ...(run.state === 'ending' ? { askedAgain: laterOf(run.askedAgain, request) } : { eventAt }),
              deliveries,
              version: run.version + 1,
            },
            if: { version: run.version },
          })
        : await change(ledger, key, {
            set: { ...itemOf(raisedRun(run, request, deliveries, now)), ...due(key, now) },
            remove: [...OF_EARLIER_ATTEMPT, 'expiresAt'],
            if: { version: run.version },
          })
    return written.done ? true : 'again'
  })
}

/**
 * Makes a run of that attempt wait: `held`, to be looked at again. Undefined if it is at another attempt, has concluded or
 * is ending: what stands there then goes on by itself. Repeatable.
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
    const key = keyOf.run(run.runId)
    const version = current.version + 1
    const written = await change(ledger, key, {
      set: { state: 'held', reason, version, ...due(key, now + ledger.timings.recheckMs) },
      if: { version: current.version },
    })
    return written.done ? { ...current, state: 'held', reason, version } : 'again'
  })
}

/** A held run goes on as its next attempt, which sees whether its head is still live; undefined if it changed meanwhile. */
export async function resumeRun(ledger: Ledger, run: Run, now: number): Promise<Run | undefined> {
  if (run.state !== 'held') return undefined
  const key = keyOf.run(run.runId)
  const { acceptedAt } = run
  // Its turn is still that of its first attempt: it has waited long enough.
  const resumed = { ...raisedRun(run, requestAgain(run), run.deliveries, now), acceptedAt }
  const written = await change(ledger, key, {
    set: { ...itemOf(resumed), ...due(key, now + ledger.timings.recheckMs) },
    remove: OF_EARLIER_ATTEMPT,
    if: { version: run.version },
  })
  return written.done ? resumed : undefined
}

/** Makes a held run due at `now` (ms UTC), so that the sweeper's next look takes it up. Repeatable. */
export async function wakeRun(ledger: Ledger, runId: string, now: number): Promise<void> {
  const run = await readRun(ledger, runId)
  if (run?.state !== 'held') return
  await change(ledger, keyOf.run(runId), { set: due(keyOf.run(runId), now), if: { version: run.version } })
}

/** Asks a live run to wake `waiting` when it ends; false if it has ended already, and nobody will. Repeatable. */
export async function awaitEnd(ledger: Ledger, runId: string, waiting: string): Promise<boolean> {
  return contended(async () => {
    const run = await readRun(ledger, runId)
    if (!run || !isLive(run.state)) return false
    const { awaitedBy = [] } = run
    if (awaitedBy.includes(waiting)) return true
    const written = await change(ledger, keyOf.run(runId), {
      // One that is dropped here is found by its own time.
      set: { awaitedBy: [...awaitedBy, waiting].slice(-AWAITED_BY_MAX), version: run.version + 1 },
      if: { version: run.version },
    })
    return written.done ? true : 'again'
  })
}
