/** Calls Muster's API, and follows a run to its end. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { CommandFailure } from './errors.ts'
import type { RunView } from './run-view.ts'

/** The time limit of a read, ms: a cold start on a busy machine takes a few seconds. */
const READ_TIMEOUT_MS = 15_000
/** The time limit of a call, ms: a run with many reviews ends slowly, and an HTTP API waits 30 s at most. */
const CALL_TIMEOUT_MS = 30_000
/** ms: often enough for a watcher, seldom enough to leave the processor to the lenses. */
const POLL_INTERVAL_MS = 300
/** Consecutive failed reads until the API counts as gone. */
const FAILURES_MAX = 5

/** The run's current state; undefined for an unknown id. */
export async function readRun(apiUrl: string, runId: string, signal: AbortSignal): Promise<RunView | undefined> {
  const response = await fetch(`${apiUrl}/runs/${runId}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]),
  })
  if (response.status === 404) {
    await response.body?.cancel()
    return undefined
  }
  if (!response.ok) throw new Error(`The API answered ${response.status} about run ${runId}.`)
  return (await response.json()) as RunView
}

/** The form of the API's refusals. */
const refusalSchema = z.object({ error: z.object({ code: z.string(), message: z.string(), remedy: z.string() }) })

/**
 * A request whose only good answer is a 200 with JSON. A refusal rejects with the API's own code, sentence and remedy
 * (usage; unavailable if a later call could succeed). Without a sensible answer the call rejects with
 * `api_unreachable`.
 */
export async function callApi<T>(apiUrl: string, method: string, path: string, body?: object): Promise<T> {
  let status: number
  let answer: unknown
  try {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    })
    status = response.status
    answer = await response.json()
  } catch (error) {
    throw unreachable(error)
  }
  if (status === 200) return answer as T
  const refusal = refusalSchema.safeParse(answer)
  if (!refusal.success) throw new Error(`The API answered ${status} to ${method} ${path}.`)
  const { code, message, remedy } = refusal.data.error
  throw new CommandFailure(code, message, remedy, status >= 500 ? 'unavailable' : 'usage')
}

/**
 * Reads a run until `isOver`, which sees every read. No deadline here: a run ends by itself, within a bound that leases
 * and timeouts give. Rejects with `api_unreachable` if the API stops answering, and with the signal's reason after an
 * abort.
 */
export async function followRun(
  apiUrl: string,
  runId: string,
  isOver: (view: RunView | undefined) => boolean | Promise<boolean>,
  signal: AbortSignal,
): Promise<RunView | undefined> {
  let failures = 0
  for (;;) {
    try {
      const view = await readRun(apiUrl, runId, signal)
      failures = 0
      if (await isOver(view)) return view
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof CommandFailure) throw error
      failures += 1
      if (failures >= FAILURES_MAX) throw unreachable(error)
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal })
  }
}

function unreachable(cause: unknown): CommandFailure {
  return new CommandFailure(
    'api_unreachable',
    'The stack no longer answers.',
    'Start the stack again: unfinished reviews continue.',
    'unavailable',
    { cause },
  )
}
