/** Lambda on one machine: bundles run in worker threads, with the semantics that functions may rely on. */
import { FunctionError } from './function-error.ts'
import type { LocalFunction } from './instance.ts'
import { Pool } from './pool.ts'

export { FunctionError } from './function-error.ts'
export type { LocalFunction } from './instance.ts'

export interface LocalFunctions {
  /**
   * Invokes synchronously, by ARN or by name, and resolves with the result; event and result make a round trip through
   * JSON. Rejects with a `FunctionError`: the handler's error, by its name; `Sandbox.Timedout`; `Runtime.ExitError` for
   * a worker that ended without an answer; `Lambda.ResourceNotFoundException`, `Lambda.TooManyRequestsException`,
   * `Lambda.RequestEntityTooLargeException` or `Lambda.ServiceException` for an event that never reached the handler.
   * An aborted `signal` rejects with its reason. As on Lambda, an abort does not stop a handler at work.
   */
  invoke(arnOrName: string, event: unknown, signal?: AbortSignal): Promise<unknown>
  /** Ends all workers at once; unfinished invocations reject. Resolves when the workers are gone. Repeatable. */
  close(): Promise<void>
  /** The workers of a function started until now. */
  coldStarts(name: string): number
}

/** Bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, synchronous invocations. */
const requestBytesMax = 6 * 1024 * 1024

/** Bytes; Lambda allows a response 100 more, and names the limit in its own error. */
const responseBytesMax = requestBytesMax + 100

/**
 * Each function gets up to `concurrencyMax` workers, with one event at a time in each; further calls wait in order.
 * Workers stay warm, and end when idle, on a timeout, or after a crash. `onLog` gets every line of their output. A
 * worker with the AWS SDK in its bundle takes about 30 MB, and 20 MB with a folder in its environment's
 * NODE_COMPILE_CACHE.
 */
export function startFunctions(
  functions: readonly LocalFunction[],
  options: { onLog?: (functionName: string, line: string) => void } = {},
): LocalFunctions {
  const pools = new Map<string, Pool>()
  for (const local of functions) {
    const pool = new Pool(local, (line) => options.onLog?.(local.name, line))
    pools.set(local.name, pool).set(local.arn, pool)
  }

  function poolOf(arnOrName: string): Pool {
    const pool = pools.get(arnOrName)
    if (pool) return pool
    const known = functions.map((local) => local.name).join(', ')
    throw new FunctionError('Lambda.ResourceNotFoundException', `No function "${arnOrName}" here. Use ${known}.`)
  }

  return {
    async invoke(arnOrName, event, signal) {
      const pool = poolOf(arnOrName)
      const request = JSON.stringify(event) ?? 'null'
      const requestBytes = Buffer.byteLength(request)
      if (requestBytes > requestBytesMax) {
        const rule = `Request must be smaller than ${requestBytesMax} bytes, it has ${requestBytes}. Pass keys, not content.`
        throw new FunctionError('Lambda.RequestEntityTooLargeException', rule)
      }
      const response = await pool.invoke(request, signal)
      const responseBytes = Buffer.byteLength(response)
      if (responseBytes > responseBytesMax) {
        const rule = `Response payload size (${responseBytes} bytes) exceeded maximum allowed payload size (${responseBytesMax} bytes).`
        throw new FunctionError('Function.ResponseSizeTooLarge', rule)
      }
      return JSON.parse(response) as unknown
    },
    async close() {
      await Promise.all([...new Set(pools.values())].map((pool) => pool.close()))
    },
    coldStarts(name) {
      return poolOf(name).coldStarts
    },
  }
}
