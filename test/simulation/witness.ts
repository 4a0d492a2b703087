/** Looks on and notes what happened, for the counters: from commits of the table, from answers, from logs and from ends. */
import { isDeepStrictEqual } from 'node:util'
import type { Failpoint } from '../../shared/base/failpoints.ts'
import type { Fleet, SlotHolder } from '../../shared/fleet/schedule.ts'
import { type ReviewName, reviewIdOf } from '../../shared/runs/review.ts'
import type { SimulatedEvent, Sometimes } from './counters.ts'
import type { Container } from './kernel/container.ts'
import type { Commit, PlainItem } from './services/table.ts'
import type { Watcher } from './world.ts'

export interface Witness extends Watcher {
  /** What was seen in this seed so far. */
  readonly seen: ReadonlySet<Sometimes>
  saw(what: Sometimes): void
  committed(commit: Commit): void
}

export function openWitness(): Witness {
  const seen = new Set<Sometimes>()
  const lastPoint = new WeakMap<Container, Failpoint>()
  const event = (what: SimulatedEvent) => seen.add(`event: ${what}`)
  /** Epochs of reviews that are leased, by their ids. */
  const beingRead = new Map<string, unknown>()
  const noteReading = (review: PlainItem) =>
    beingRead.set(reviewIdOf(review as unknown as ReviewName), review.state === 'leased' ? review.epoch : undefined)
  const isRead = ({ reviewId, epoch }: SlotHolder) => beingRead.get(reviewId) === epoch

  return {
    seen,
    saw: (what) => seen.add(what),

    answered(service, { method, path, headers, body }, { status, body: answer }) {
      const action = headers['x-amz-target']?.split('.').at(-1)
      if (service === 'table' && status === 400) {
        if (answer.includes('TransactionConflict')) event('transaction_conflict')
        else if (action === 'TransactWriteItems') event('transaction cancelled by a condition')
        else if (answer.includes('ConditionalCheckFailed')) {
          event('condition refused')
          if (body.includes('"granted"')) event('grant void')
          const writer = /"writer":\{"S":"([^"]+)"\}/.exec(answer)?.[1] ?? /"nonce":\{"S":"([^"]+)"\}/.exec(answer)?.[1]
          if (writer !== undefined && body.includes(writer)) event('unknown resolved by read-back')
        }
      }
      if (service === 'machine' && status === 400 && action === 'SendTaskSuccess') event('dead token answered')
      if (service === 'machine' && status === 200 && action === 'StopExecution') event('execution stopped')
      if (service === 'github') {
        if (status === 422) event('refused by GitHub with 422')
        if (status < 300 && method === 'DELETE' && /\/reviews\/\d+$/.test(path)) event('pending review deleted')
      }
    },

    logged(room, message, { outcome, code }) {
      if (room === 'webhook' && message === 'Delivery accepted') {
        if (outcome === 'replayed') event('delivery replayed')
        if (outcome === 'joined') event('delivery joins')
        if (outcome === 'raised') event('delivery raises the attempt')
      }
      if (message === 'Delivery ignored') event('delivery ignored')
      if (message === 'Not planned' && code === 'attempt_waits') event('attempt_waits')
      if (code === 'halted') event('halted')
      if (message === 'Cached result read') event('made before')
      if (message === 'Worker lost') event('dead worker taken back')
      if (message === 'Run taken up') event('sweep took up a run')
      if (message === 'Planned' && outcome === 'shown') event('shown again')
      if (code === 'github_throttled') event('throttled at GitHub')
    },

    reached: (container, point) => void lastPoint.set(container, point),

    ended(container, end) {
      const point = lastPoint.get(container)
      lastPoint.delete(container)
      if (end.kind === 'result') {
        if (container.room === 'webhook' && end.json.includes('idempotency_conflict')) event('idempotency_conflict')
        if (container.room === 'plan' && end.json.includes('"outcome":"replay"')) event('plan replayed')
        return
      }
      if (end.errorType === 'Runtime.ExitError' && point) seen.add(`crash after: ${point}`)
      if (end.errorType === 'Sandbox.Timedout') event('function timed out')
      if (end.errorType === 'lease_held') event('lease_held')
      if (end.errorType === 'stale_fence') event('stale_fence')
      if (end.errorMessage.startsWith('head_not_visible')) event('head not visible yet')
    },

    committed({ changes }) {
      for (const { key, before, after } of changes) {
        if (!after) continue
        noteChange(event, String(key.sk), before ?? {}, after)
        if (String(key.sk).startsWith('REVIEW#')) noteReading(after)
        if (key.sk === 'FLEET' && probesOfOpened(before ?? {}, after).some((probe) => isRead(probe))) {
          event('pool opened while its probe is read')
        }
      }
    },
  }
}

function noteChange(event: (what: SimulatedEvent) => void, sk: string, before: PlainItem, after: PlainItem): void {
  const became = (member: string, value: unknown) => after[member] === value && before[member] !== value
  if (sk === 'RUN') {
    if (became('state', 'held')) event('run held')
    if (before.state === 'held' && became('state', 'accepted')) event('run resumed')
    if (became('state', 'ended')) event(`run ${after.outcome}` as SimulatedEvent)
    if (became('verdict', 'incomplete')) event('verdict incomplete')
    if (became('verdict', 'changes_requested')) event('verdict changes_requested')
    if (after.kind === 'analyzers') event('analyzers only')
    if (became('state', 'ended') && (after.reason as { code?: string } | undefined)?.code === 'execution_failed') {
      event('execution failed')
    }
  } else if (sk.startsWith('REVIEW#')) {
    if (after.lens === 'adjudication') event('second reading')
    if (after.state === 'waiting' && before.state === undefined) event('ticket waits')
    if (before.state === 'leased' && after.state === 'leased' && before.until !== after.until) event('lease renewed')
    const isTakenBack = before.state === 'granted' || before.state === 'leased'
    if (isTakenBack && after.epoch !== before.epoch && after.state !== 'ended') event('take-back')
    if (became('state', 'failed')) event('review failed')
    if ((after.reason as { code?: string } | undefined)?.code === 'lease_lost_too_often') event('lost too often')
  } else if (sk === 'FLEET') noteFleet(event, before, after)
  else if (sk.startsWith('MESSAGE#')) {
    if (became('state', 'withdrawn')) event('message withdrawn')
    if (became('state', 'failed')) event('message failed')
    if (became('state', 'said')) event(sk.endsWith('#reply') ? 'reply said' : 'message said')
    if (became('state', 'said') && before.state !== 'owed') event('message said by a second look')
    if (before.recheckAt !== undefined && after.recheckAt === undefined) event('second look')
  } else if (sk === 'THREAD') {
    if (Number(after.round ?? 0) > Number(before.round ?? 0)) event('round counted')
  } else if (sk === 'BUDGET') {
    if (after.closedUntil !== undefined) event('budget closed')
  }
}

/** The probes of pools that were closed before and aren't any more. */
function probesOfOpened(before: PlainItem, after: PlainItem): SlotHolder[] {
  const closed = (after.closed ?? {}) as Fleet['closed']
  return Object.entries((before.closed ?? {}) as Fleet['closed']).flatMap(([pool, { probe }]) =>
    probe && !closed[pool] ? [probe] : [],
  )
}

function noteFleet(event: (what: SimulatedEvent) => void, before: PlainItem, after: PlainItem): void {
  const closedBefore = (before.closed ?? {}) as Record<string, { probe?: object }>
  const closed = (after.closed ?? {}) as Record<string, { probe?: object }>
  const held = Object.keys((after.slots ?? {}) as object).length
  const limits = after.limits as { configured?: number; enabled?: boolean } | undefined
  if (limits && held > (limits.enabled === false ? 1 : (limits.configured ?? 0))) event('fleet drains')
  for (const [pool, { probe }] of Object.entries(closed)) {
    event('parked')
    if (probe && !isDeepStrictEqual(probe, closedBefore[pool]?.probe)) event('probe')
  }
  for (const pool of Object.keys(closedBefore)) if (!closed[pool]) event('pool opened')
}
