/**
 * One task of an execution: its invocations, its waits and its retries, repeatable from the journal.
 * The journal knows a task by its state's name, the digest of its payload, and the number of earlier occurrences of
 * that pair. The number is the same in every replay, because all else follows from the input and from earlier results.
 * An attempt with an outcome is not made again. A waiting attempt keeps its token, so that the holder can still answer.
 * An attempt in flight at the death of the process is invoked again, as by Lambda's own retries. A wait between
 * attempts ends at the time recorded at its beginning.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { TaskState } from './definition.ts'
import { StatesError } from './errors.ts'
import type { Fact, Outcome } from './journal.ts'
import type { Attempt, Live } from './live.ts'
import { retryDelays } from './retry.ts'
import { callAt } from './timer.ts'

/**
 * Invokes a function. Rejects with an error named `FunctionError` (errorType, errorMessage) for an error of the
 * function.
 */
export type Invoke = (functionArn: string, payload: unknown, signal: AbortSignal) => Promise<unknown>

/** The execution of a task. */
export interface TaskHost {
  /** Leads from a token to its execution. */
  readonly key: string
  readonly live: Live
  readonly invoke: Invoke
  /** Ms since the epoch. */
  readonly now: () => number
  /** Throws if the fact could not be written; then nothing has changed. */
  record(fact: Fact): void
}

interface Parameters {
  readonly FunctionName: string
  readonly Payload?: unknown
}

/** Bytes of a state's input or output: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html. */
export const dataBytesMax = 262_144

/** The execution is over, or the process closes: the task's promise ends, and nothing is recorded. */
export class Over extends Error {
  override readonly name = 'Over'
}

/**
 * Resolves with the task's result, live or from the journal. Rejects with a `StatesError` once no retrier is left, with
 * `Over`, or with the failure of a fact's write.
 */
export async function performTask(host: TaskHost, name: string, state: TaskState, template: unknown): Promise<unknown> {
  const text = JSON.stringify(template)
  if (Buffer.byteLength(text) > dataBytesMax) throw tooLong('gets')
  const task = nextTask(host.live, name, text)
  // A turn of the event loop lets the engine's own events come first. The task has its number by now.
  if (!host.live.attempts.has(task)) await new Promise((resolve) => setImmediate(resolve))
  const delays = retryDelays(state.retriers)
  for (let number = 0; ; number += 1) {
    if (host.live.over) throw new Over()
    const before = host.live.attempts.get(task)?.[number]
    const attempt = before ?? begin(host, task, state, text)
    const outcome = attempt.outcome ?? (await settle(host, attempt, state, text, before !== undefined))
    if ('output' in outcome) {
      host.live.attempts.delete(task)
      return JSON.parse(outcome.output) as unknown
    }
    const delayMs = delays(outcome.error)
    if (delayMs === undefined) {
      host.live.attempts.delete(task)
      throw new StatesError(outcome.error, outcome.cause)
    }
    if (attempt.retryAt === undefined) host.record({ kind: 'retry', task, until: host.now() + delayMs })
    await waitUntil(host, attempt.retryAt ?? host.now())
  }
}

/** Resolves at the end of a Wait state of `ms`, counted from its first entry. Rejects as `performTask` does. */
export async function performWait(host: TaskHost, name: string, ms: number, input: unknown): Promise<void> {
  if (host.live.over) throw new Over()
  const wait = nextTask(host.live, name, JSON.stringify(input))
  if (!host.live.waits.has(wait)) host.record({ kind: 'wait', wait, until: host.now() + ms })
  await waitUntil(host, host.live.waits.get(wait) ?? host.now())
}

/**
 * Writes an attempt's outcome down and passes it on. The first outcome counts; false for a later outcome, or after the
 * end.
 */
export function conclude(host: TaskHost, attempt: Attempt, outcome: Outcome): boolean {
  if (attempt.outcome || host.live.over) return false
  host.record({ kind: 'outcome', task: attempt.task, ...outcome })
  attempt.settle?.(outcome)
  return true
}

function nextTask(live: Live, name: string, payload: string): string {
  const pair = `${name} ${createHash('sha256').update(payload).digest('hex').slice(0, 16)}`
  const occurrence = live.occurrences.get(pair) ?? 0
  live.occurrences.set(pair, occurrence + 1)
  return `${pair} ${occurrence}`
}

function begin(host: TaskHost, task: string, state: TaskState, text: string): Attempt {
  const { FunctionName: functionName } = JSON.parse(text) as Parameters
  const deadline = host.now() + state.timeoutMs
  const token = state.waits ? `${host.key}.${randomBytes(16).toString('hex')}` : undefined
  host.record({ kind: 'attempt', task, functionName, deadline, ...(token !== undefined && { token }) })
  const attempt = host.live.attempts.get(task)?.at(-1)
  if (!attempt) throw new Error(`Expected an attempt of "${task}" after recording one`)
  return attempt
}

/** Waits for an attempt's outcome; invokes its function unless the journal knows of the function's return. */
function settle(host: TaskHost, attempt: Attempt, state: TaskState, text: string, replayed: boolean): Promise<Outcome> {
  return new Promise<Outcome>((resolve, reject) => {
    const controller = new AbortController()
    // A repeated invocation gets its whole time; a wait counts from the issue of its token.
    const deadline = replayed && !state.waits ? host.now() + state.timeoutMs : attempt.deadline
    const cancelTimer = callAt(deadline, host.now, () => {
      guarded(reject, () => conclude(host, attempt, { error: 'States.Timeout', cause: '' }))
    })
    const stop = (): void => {
      cancelTimer()
      controller.abort()
      reject(new Over())
    }
    host.live.stops.add(stop)
    attempt.settle = (outcome) => {
      cancelTimer()
      host.live.stops.delete(stop)
      // On AWS too, a function at work continues after the end of its task. A call that waits for a worker does not
      // start.
      controller.abort()
      resolve(outcome)
    }
    if (attempt.submitted) return
    const parameters = JSON.parse(withToken(host, attempt, text)) as Parameters
    const returned = host.invoke(parameters.FunctionName, parameters.Payload ?? {}, controller.signal).then(
      (payload) => {
        if (attempt.outcome || host.live.over) return
        if (state.waits) host.record({ kind: 'submitted', task: attempt.task })
        else conclude(host, attempt, resultOf(payload))
      },
      (error: unknown) => void conclude(host, attempt, failureOf(error)),
    )
    returned.catch(reject)
  })
}

function withToken(host: TaskHost, attempt: Attempt, text: string): string {
  return attempt.token === undefined ? text : text.replaceAll(host.live.started.placeholder, attempt.token)
}

/** Wraps a function's result as the integration `lambda:invoke` does. */
function resultOf(payload: unknown): Outcome {
  const output = JSON.stringify({ ExecutedVersion: '$LATEST', Payload: payload ?? null, StatusCode: 200 })
  if (Buffer.byteLength(output) <= dataBytesMax) return { output }
  const { name: error, message: cause } = tooLong('returns')
  return { error, cause }
}

function tooLong(verb: 'gets' | 'returns'): StatesError {
  const cause = `The task ${verb} more than ${dataBytesMax} bytes. Store the content and pass its key.`
  return new StatesError('States.DataLimitExceeded', cause)
}

function failureOf(error: unknown): Outcome {
  const known = error as { name?: unknown; errorType?: unknown; errorMessage?: unknown } | null | undefined
  const isFunctionError = known?.name === 'FunctionError' && typeof known.errorType === 'string'
  const errorMessage = isFunctionError ? known.errorMessage : error instanceof Error ? error.message : String(error)
  // Neither the caller nor AWS has a word for an unknown fate of the function.
  const errorType = isFunctionError ? (known.errorType as string) : 'Lambda.Unknown'
  return { error: errorType, cause: JSON.stringify({ errorType, errorMessage, trace: [] }) }
}

function waitUntil(host: TaskHost, time: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel()
      reject(new Over())
    }
    const cancel = callAt(time, host.now, () => {
      host.live.stops.delete(stop)
      resolve()
    })
    host.live.stops.add(stop)
  })
}

function guarded(reject: (error: unknown) => void, action: () => void): void {
  try {
    action()
  } catch (error) {
    reject(error)
  }
}
