/** The thread: what has been said about one pull request, its series and rounds, and which run may speak for it now. */
import * as z from 'zod'
import { ROUNDS_REMEMBERED_MAX } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'
import { type Run, runKindSchema } from './run.ts'

const liveRunSchema = z.object({
  runId: z.string(),
  attempt: z.number(),
  kind: runKindSchema,
  /** ms UTC; the latest event that is known of its head. */
  eventAt: z.number(),
  /** ms UTC; the latest as of which GitHub showed the pull request open at a claim. */
  openAt: z.number().exactOptional(),
})
export type LiveRun = Stored<typeof liveRunSchema>

export const threadSchema = z.object({
  repositoryId: z.number(),
  number: z.number(),
  /** The newest head that a run has claimed. */
  head: z.string(),
  baseRef: z.string(),
  /** Counts openings, reopenings, retargetings and restarts; rounds are counted within one. */
  series: z.number(),
  /** Rounds shown in this series; more than the ceiling where a review landed after the last one was planned. */
  round: z.number(),
  /** Messages of this series whose rounds are counted, newest last: each counts once. */
  counted: z.array(z.string()).exactOptional(),
  /** Sequence number of the next entry. */
  nextSequence: z.number(),
  /** The run that may speak; it may have ended. */
  liveRun: liveRunSchema.exactOptional(),
  /** The last verdict: from its conclusion come the findings that are open. */
  lastConclusion: z.object({ digest: z.string(), head: z.string(), runId: z.string() }).exactOptional(),
  version: z.number(),
})
export type Thread = Stored<typeof threadSchema>

/** An entry of the append-only record. */
export type Entry =
  | { readonly kind: 'checkpoint'; readonly head: string; readonly at: number }
  | {
      readonly kind: 'verdict'
      readonly runId: string
      readonly head: string
      readonly verdict: string
      readonly round: number
      readonly series: number
      readonly conclusion: string
      readonly at: number
    }

/** What a run that wants to speak for the pull request must do. */
export type ClaimDecision =
  /** An older event than the live run's: never replaces it. */
  | { readonly kind: 'superseded'; readonly by: string }
  | {
      readonly kind: 'claim'
      readonly thread: Thread
      readonly entry: Entry | undefined
      readonly ends: string | undefined
    }

/**
 * Pure: the thread after `run` has claimed it at `now`, or why it may not (IL1). `thread` is undefined for a new one. A later
 * event that had only the description read again overtakes no review of its own head, and says that this head still stands (PR6).
 */
export function claim(thread: Thread | undefined, run: Run, now: number): ClaimDecision {
  const live = thread?.liveRun
  const isLater = live !== undefined && live.runId !== run.runId && live.eventAt > run.eventAt
  const saysSame = isLater && live.kind === 'analyzers' && run.kind === 'full' && isOfHead(thread, run)
  if (isLater && !saysSame) return { kind: 'superseded', by: live.runId }

  const before: Thread = thread ?? {
    repositoryId: run.repository.id,
    number: run.number,
    head: '',
    baseRef: run.baseRef,
    series: 0,
    round: 0,
    nextSequence: 0,
    version: 0,
  }
  const claimedAlready = live?.runId === run.runId && live.attempt === run.attempt
  const newSeries = !claimedAlready && (run.opensSeries || before.series === 0)
  const entry: Entry | undefined =
    before.head === run.head ? undefined : { kind: 'checkpoint', head: run.head, at: now }
  return {
    kind: 'claim',
    thread: {
      ...before,
      head: run.head,
      baseRef: run.baseRef,
      series: newSeries ? before.series + 1 : before.series,
      round: newSeries ? 0 : before.round,
      ...(newSeries ? { counted: [] } : {}),
      nextSequence: before.nextSequence + (entry ? 1 : 0),
      liveRun: {
        runId: run.runId,
        attempt: run.attempt,
        kind: run.kind,
        // Neither gets earlier: a run that claims again, perhaps by a view of GitHub that is behind, forgets nothing (D3).
        eventAt: Math.max(run.eventAt, saysSame || live?.runId === run.runId ? live.eventAt : 0),
        ...(live?.openAt === undefined ? {} : { openAt: live.openAt }),
      },
    },
    entry,
    ends: live && live.runId !== run.runId ? live.runId : undefined,
  }
}

/** The thread that a run claims while GitHub shows the pull request open, as of `openAt` (ms UTC): no closing before that ends it. */
export function seenOpen(thread: Thread, openAt: number): Thread {
  const { liveRun } = thread
  return liveRun ? { ...thread, liveRun: { ...liveRun, openAt: Math.max(liveRun.openAt ?? 0, openAt) } } : thread
}

function isOfHead(thread: Thread | undefined, run: Run): boolean {
  return thread?.head === run.head && thread.baseRef === run.baseRef
}

/** The thread's rounds with that of a shown `message`; undefined if it is counted already, or belongs to an earlier series. */
export function withRound(
  { series, round, counted = [] }: Thread,
  message: { readonly name: string; readonly series: number },
): Required<Pick<Thread, 'round' | 'counted'>> | undefined {
  if (message.series !== series || counted.includes(message.name)) return undefined
  return { round: round + 1, counted: [...counted, message.name].slice(-ROUNDS_REMEMBERED_MAX) }
}

/** The number that the next shown verdict will have in this series, from 1. */
export function nextRound(thread: Thread): number {
  return thread.round + 1
}
