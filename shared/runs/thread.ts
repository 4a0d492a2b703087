/** The thread of a pull request: its series and rounds, its last verdict, and the run that may speak for it now. */
import * as z from 'zod'
import { ROUNDS_REMEMBERED_MAX } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'
import { type Run, runKindSchema } from './run.ts'

const liveRunSchema = z.object({
  runId: z.string(),
  attempt: z.number(),
  kind: runKindSchema,
  /** ms UTC; the latest known event of the head. */
  eventAt: z.number(),
  /** ms UTC; the latest time at which GitHub showed the pull request open to a claiming run. */
  openAt: z.number().exactOptional(),
})
export type LiveRun = Stored<typeof liveRunSchema>

export const threadSchema = z.object({
  repositoryId: z.number(),
  number: z.number(),
  /** The newest head claimed by a run. */
  head: z.string(),
  baseRef: z.string(),
  /** Counts openings, reopenings, retargetings and restarts; rounds are counted within a series. */
  series: z.number(),
  /** Rounds shown in this series; more than the ceiling if a review landed after the plan of the last round. */
  round: z.number(),
  /** Messages of this series with a counted round, newest last: each message counts once. */
  counted: z.array(z.string()).exactOptional(),
  /** Sequence number of the next entry. */
  nextSequence: z.number(),
  /** The run that may speak; the run may have ended. */
  liveRun: liveRunSchema.exactOptional(),
  /** The last verdict: its conclusion has the open findings. */
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

/** The effect of a run's claim on its pull request. */
export type ClaimDecision =
  /** An event older than the live run's event never replaces the live run. */
  | { readonly kind: 'superseded'; readonly by: string }
  | {
      readonly kind: 'claim'
      readonly thread: Thread
      readonly entry: Entry | undefined
      readonly ends: string | undefined
    }

/**
 * Pure: the thread after the claim of `run` at `now`, or the refusal (IL1). `thread` is undefined for a new pull request. A
 * later event with an edited description overtakes no review of the same head, but confirms the head (PR6).
 */
export function claim(thread: Thread | undefined, run: Run, now: number): ClaimDecision {
  const live = thread?.liveRun
  const isLater = live !== undefined && live.runId !== run.runId && live.eventAt > run.eventAt
  const overtakesTextRun = isLater && live.kind === 'analyzers' && run.kind === 'full' && isOfHead(thread, run)
  if (isLater && !overtakesTextRun) return { kind: 'superseded', by: live.runId }

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
        // Neither time gets earlier: a run claiming again, perhaps by a late view of GitHub, forgets nothing (D3).
        eventAt: Math.max(run.eventAt, overtakesTextRun || live?.runId === run.runId ? live.eventAt : 0),
        ...(live?.openAt === undefined ? {} : { openAt: live.openAt }),
      },
    },
    entry,
    ends: live && live.runId !== run.runId ? live.runId : undefined,
  }
}

/** The thread of a claiming run that GitHub showed open as of `openAt` (ms UTC): no earlier closing ends the run. */
export function seenOpen(thread: Thread, openAt: number): Thread {
  const { liveRun } = thread
  return liveRun ? { ...thread, liveRun: { ...liveRun, openAt: Math.max(liveRun.openAt ?? 0, openAt) } } : thread
}

function isOfHead(thread: Thread | undefined, run: Run): boolean {
  return thread?.head === run.head && thread.baseRef === run.baseRef
}

/** The thread's rounds plus that of a shown `message`; undefined for a counted message, and for one of an earlier series. */
export function withRound(
  { series, round, counted = [] }: Thread,
  message: { readonly name: string; readonly series: number },
): Required<Pick<Thread, 'round' | 'counted'>> | undefined {
  if (message.series !== series || counted.includes(message.name)) return undefined
  return { round: round + 1, counted: [...counted, message.name].slice(-ROUNDS_REMEMBERED_MAX) }
}

/** The number of the next shown verdict in this series, from 1. */
export function nextRound(thread: Thread): number {
  return thread.round + 1
}
