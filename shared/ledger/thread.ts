/** Threads in the ledger, and the two transactions on a thread: claim and conclude. */
import { type Run, requestAgain } from '../runs/run.ts'
import { type Entry, type Thread, threadSchema, withRound } from '../runs/thread.ts'
import { noHaltInTransaction } from './halt.ts'
import type { Message, MessageState } from './message.ts'
import { raiseInTransaction } from './resource.ts'
import { change, changeInTransaction, contended, contentAs, due, keyOf, type Ledger, read, transact } from './table.ts'

/** The thread of a pull request, read consistently; undefined before its first claim. */
export async function readThread(ledger: Ledger, repositoryId: number, number: number): Promise<Thread | undefined> {
  return read(ledger, keyOf.thread(repositoryId, number), (item) => contentAs(threadSchema, item))
}

/** What a claim or a conclusion came to. `again`: something changed meanwhile, read and decide again. */
export type Moved = 'done' | 'halted' | 'again'

/**
 * Claim: the thread names `run` as the one that may speak, the run is running, the run before it is ending, and no halt
 * stands; all at once or nothing. `thread` is as it was read (undefined: new), `next` as `claim` decided. Has the run before
 * joined a later event meanwhile, such as a push back to its head, it is asked for once more (IL1).
 */
export async function writeClaim(
  ledger: Ledger,
  claim: {
    thread: Thread | undefined
    next: Thread
    entry: Entry | undefined
    run: Run
    ends: Run | undefined
    now: number
  },
): Promise<Moved> {
  const { thread, next, entry, run, ends, now } = claim
  const runKey = keyOf.run(run.runId)
  const answer = await transact(ledger, [
    noHaltInTransaction(ledger, run.repository),
    threadWrite(ledger, thread, next),
    changeInTransaction(ledger, runKey, {
      set: { state: 'running', version: run.version + 1, ...due(runKey, now + ledger.timings.recheckMs) },
      if: { version: run.version },
    }),
    ...(entry ? [entryWrite(ledger, next, thread?.nextSequence ?? 0, entry)] : []),
    ...(ends
      ? [
          changeInTransaction(ledger, keyOf.run(ends.runId), {
            set: {
              state: 'ending',
              outcome: 'superseded',
              reason: {
                code: 'head_superseded',
                sentence: `A newer run for ${run.head.slice(0, 7)} has taken its place.`,
              },
              askedAgain: ends.eventAt > run.eventAt ? requestAgain(ends) : undefined,
              version: ends.version + 1,
              ...due(keyOf.run(ends.runId), now),
            },
            if: { version: ends.version },
          }),
        ]
      : []),
  ])
  return moved(answer)
}

/** An owed review: its key, its document, its round (0: none), and the message's state as read. */
export interface MessageOwed {
  readonly key: string
  readonly document: string
  readonly round: number
  readonly before: MessageState | undefined
}

/** The members of a conclusion's write, besides the thread and the run. */
export interface ConclusionWrite {
  readonly thread: Thread
  readonly run: Run
  readonly verdict: string
  readonly conclusion: string
  readonly planKey: string
  /** False if a placed lens failed. */
  readonly whole: boolean
  readonly round: number
  readonly token: string
  /** The owed review; absent if no review is owed. */
  readonly message?: MessageOwed | undefined
  /** A review that was said without a round and uses this round now; absent otherwise. */
  readonly roundOf?: { readonly key: string; readonly round: number } | undefined
  /** Resources to be shown: kind, key, document. */
  readonly resources: readonly { readonly kind: string; readonly key: string; readonly document: string }[]
  readonly now: number
}

/** Conclude: thread, run, verdict entry, message and desired resources change together, with no halt standing, or not at all. */
export async function writeConclusion(ledger: Ledger, write: ConclusionWrite): Promise<Moved> {
  const { thread, run, now } = write
  const runKey = keyOf.run(run.runId)
  const { repositoryId, number } = thread
  const next: Thread = {
    ...thread,
    nextSequence: thread.nextSequence + 1,
    lastConclusion: { digest: write.conclusion, head: run.head, runId: run.runId },
  }
  const answer = await transact(ledger, [
    noHaltInTransaction(ledger, run.repository),
    threadWrite(ledger, thread, next),
    changeInTransaction(ledger, runKey, {
      set: {
        state: 'concluded',
        verdict: write.verdict,
        conclusion: write.conclusion,
        concludedPlanKey: write.planKey,
        concludedWhole: write.whole,
        token: write.token,
        version: run.version + 1,
        ...due(runKey, now + ledger.timings.recheckMs),
      },
      if: { version: run.version },
    }),
    entryWrite(ledger, thread, thread.nextSequence, {
      kind: 'verdict',
      runId: run.runId,
      head: run.head,
      verdict: write.verdict,
      round: write.round,
      series: thread.series,
      conclusion: write.conclusion,
      at: now,
    }),
    ...(write.message ? [messageWrite(ledger, write, write.message)] : []),
    ...(write.roundOf ? [roundWrite(ledger, write, write.roundOf)] : []),
    raiseInTransaction(ledger, { repositoryId, number, runId: run.runId, wanted: write.resources, now }),
  ])
  return moved(answer)
}

/**
 * Counts a shown review as one more round of its series, whatever its planned number: two reviews planned side by side
 * are two rounds (IL2). Repeatable: each message counts once; a newer series is left alone.
 */
export async function countRound(
  ledger: Ledger,
  { repositoryId, number }: { repositoryId: number; number: number },
  shown: Pick<Message, 'runId' | 'planKey' | 'key' | 'series'>,
): Promise<void> {
  const { sk: name } = keyOf.message(repositoryId, number, shown.runId, shown.planKey, shown.key)
  await contended(async () => {
    const thread = await readThread(ledger, repositoryId, number)
    const rounds = thread && withRound(thread, { name, series: shown.series })
    if (!rounds) return 'counted'
    const written = await change(ledger, keyOf.thread(repositoryId, number), {
      set: { ...rounds, version: thread.version + 1 },
      if: { version: thread.version },
    })
    return written.done ? 'counted' : 'again'
  })
}

function threadWrite(ledger: Ledger, before: Thread | undefined, next: Thread) {
  const key = keyOf.thread(next.repositoryId, next.number)
  return changeInTransaction(ledger, key, {
    set: { ...next, version: (before?.version ?? 0) + 1 },
    if: { version: before?.version },
  })
}

function entryWrite(ledger: Ledger, thread: Thread, sequence: number, entry: Entry) {
  return {
    Put: {
      TableName: ledger.table,
      Item: { ...keyOf.entry(thread.repositoryId, thread.number, sequence), ...entry },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }
}

function roundWrite(
  ledger: Ledger,
  { thread, run, planKey }: ConclusionWrite,
  { key, round }: { key: string; round: number },
) {
  const { repositoryId, number } = thread
  const of = keyOf.message(repositoryId, number, run.runId, planKey, key)
  return changeInTransaction(ledger, of, { set: { round }, if: { state: 'said', round: 0 } })
}

function messageWrite(ledger: Ledger, write: ConclusionWrite, message: MessageOwed) {
  const { repositoryId, number } = write.thread
  const { runId, attempt } = write.run
  const key = keyOf.message(repositoryId, number, runId, write.planKey, message.key)
  return changeInTransaction(ledger, key, {
    set: {
      repositoryId,
      number,
      runId,
      attempt,
      planKey: write.planKey,
      key: message.key,
      document: message.document,
      state: 'owed',
      series: write.thread.series,
      round: message.round,
      errors: 0,
      leaseUntil: 0,
      ...due(key, write.now + ledger.timings.recheckMs),
    },
    remove: ['pendingId', 'githubId', 'owner', 'reason'],
    if: { state: message.before },
  })
}

/** The halt check is the first member of both transactions. */
function moved(answer: Awaited<ReturnType<typeof transact>>): Moved {
  if (answer.done) return 'done'
  return answer.refused.includes(0) ? 'halted' : 'again'
}
