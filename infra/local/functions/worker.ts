/**
 * A warm instance of a function: loads the bundle, then handles event after event. Runs as a worker thread.
 */
import { enableCompileCache } from 'node:module'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import type { InvokeMessage, WorkerMessage, WorkerOptions } from './messages.ts'

type Handler = (event: unknown, context: object) => unknown

const options = workerData as WorkerOptions

/**
 * Bytes that an instance may keep after an event before it collects its garbage. On Lambda an idle instance costs no
 * memory; here all instances share one process, and V8 never shrinks an idle thread. The limit is above the size of a
 * loaded bundle, so that small events cost no collection.
 */
const KEPT_BYTES_MAX = 48 * 1_024 * 1_024

// Node.js has no other way to ask for a collection in a thread that was started without the flag.
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

// Node.js reads this variable at the start of a process only, not of a thread.
if (process.env.NODE_COMPILE_CACHE) enableCompileCache(process.env.NODE_COMPILE_CACHE)

try {
  const handler = await load()
  parentPort?.on('message', (message: InvokeMessage) => void handle(handler, message))
  tell({ kind: 'ready' })
} catch (error) {
  tell(failure(error))
}

async function load(): Promise<Handler> {
  const bundle = (await import(pathToFileURL(options.bundle).href)) as Record<string, unknown>
  const handler = bundle[options.handler]
  if (typeof handler === 'function') return handler as Handler
  const error = new Error(`index.${options.handler} is undefined or not exported`)
  error.name = 'Runtime.HandlerNotFound'
  throw error
}

async function handle(handler: Handler, message: InvokeMessage): Promise<void> {
  try {
    tell({ kind: 'result', body: bodyOf(await handler(JSON.parse(message.event), contextOf(message))) })
  } catch (error) {
    tell(failure(error))
  }
  const { heapUsed, external } = process.memoryUsage()
  if (heapUsed + external > KEPT_BYTES_MAX) collectGarbage()
}

function contextOf({ requestId, deadline }: InvokeMessage): object {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: options.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: options.functionArn,
    memoryLimitInMB: String(options.memoryMiB),
    logGroupName: `/aws/lambda/${options.functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  }
}

/** As on Lambda: no result is `null`, and a result that JSON cannot hold is an error of its own. */
function bodyOf(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null'
  } catch (cause) {
    const error = new Error('Unable to stringify response body', { cause })
    error.name = 'Runtime.MarshalError'
    throw error
  }
}

/** The stack goes to the log only, as on Lambda: the answer may be stored and shown. */
function failure(error: unknown): WorkerMessage {
  const known = typeof error === 'object' && error !== null ? (error as Partial<Error>) : undefined
  const errorType = known ? String(known.name ?? 'Error') : typeof error
  const errorMessage = known ? String(known.message ?? '') : String(error)
  console.error('Invoke Error', JSON.stringify({ errorType, errorMessage, stack: known?.stack?.split('\n') ?? [] }))
  return { kind: 'error', errorType, errorMessage }
}

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}
