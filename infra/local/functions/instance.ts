/** A worker thread of a function, from cold start to end: a single event at a time, and an end at the timeout. */
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { FunctionError } from './function-error.ts'
import type { InvokeMessage, WorkerMessage, WorkerOptions } from './messages.ts'

export interface LocalFunction {
  readonly name: string
  readonly arn: string
  /** Absolute path of an ES module. */
  readonly bundle: string
  /** Name of the handler's export. */
  readonly handler: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly concurrencyMax: number
}

/**
 * Ms for the load of a bundle. After ten seconds Lambda begins the load again within the function's timeout; here a
 * load has both times in one: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html.
 */
const initMs = 10_000

/**
 * MiB of a worker's heap, also told to its handler. Muster's functions hold at most some documents of a few MiB; a
 * worker with a leak ends alone, and not the process with all others.
 */
const heapMiB = 256

/**
 * MiB for young objects. Node.js would let this space grow to three times 16 MiB in every worker, most of a worker's
 * size.
 */
const youngHeapMiB = 8

const workerFile = new URL('./worker.ts', import.meta.url)

export class Instance {
  readonly #function: LocalFunction
  readonly #worker: Worker
  readonly #ready: Promise<WorkerMessage>
  #settle: ((message: WorkerMessage) => void) | undefined
  #ended = false
  /** Of the current event, or the last one. */
  #requestId = ''

  constructor(local: LocalFunction, onLine: (line: string) => void) {
    this.#function = local
    this.#worker = new Worker(workerFile, {
      workerData: {
        bundle: local.bundle,
        handler: local.handler,
        functionName: local.name,
        functionArn: local.arn,
        memoryMiB: heapMiB,
      } satisfies WorkerOptions,
      // Its own environment, without this process's: a function sees its configuration alone.
      env: { ...baseEnvironment(local.name), ...local.environment },
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngHeapMiB },
    })
    for (const input of [this.#worker.stdout, this.#worker.stderr]) createInterface({ input }).on('line', onLine)
    this.#worker.on('message', (message: WorkerMessage) => this.#tell(message))
    this.#worker.on('error', (error) => {
      onLine(`Runtime error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    })
    this.#worker.on('exit', (code) => this.#exited(code))
    this.#ready = this.#next()
  }

  /** False after the end, which the thread or `end` brings: a dead instance takes no more events. */
  get alive(): boolean {
    return !this.#ended
  }

  /**
   * Handles one event; callers give one event at a time. Resolves with JSON text. Rejects with a `FunctionError`, whose
   * type is the type of the thrown error, `Sandbox.Timedout` or `Runtime.ExitError`. In the last two cases the instance
   * has ended, and the message names the dead invocation, as on Lambda.
   */
  async invoke(requestId: string, event: string): Promise<string> {
    this.#requestId = requestId
    const { timeoutMs } = this.#function
    const loaded = await this.#within(this.#ready, initMs + timeoutMs)
    if (loaded.kind === 'error') {
      await this.end()
      throw new FunctionError(loaded.errorType, loaded.errorMessage)
    }
    if (this.#ended) throw new FunctionError('Runtime.ExitError', this.#died('Runtime exited before it took the event'))
    const answer = this.#next()
    const deadline = Date.now() + timeoutMs
    this.#worker.postMessage({ requestId, event, deadline } satisfies InvokeMessage)
    const message = await this.#within(answer, timeoutMs)
    if (message.kind === 'result') return message.body
    if (message.kind === 'error') throw new FunctionError(message.errorType, message.errorMessage)
    throw new FunctionError('Runtime.Unknown', 'The runtime answered out of turn. Please report it.')
  }

  /** Ends the thread at once, in any state. Repeatable. */
  async end(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    await this.#worker.terminate()
  }

  #next(): Promise<WorkerMessage> {
    return new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  #tell(message: WorkerMessage): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(message)
  }

  #exited(code: number): void {
    this.#ended = true
    const errorMessage = this.#died(`Runtime exited with error: exit status ${code}`)
    this.#tell({ kind: 'error', errorType: 'Runtime.ExitError', errorMessage })
  }

  /** In Lambda's words: https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-invocation.html. */
  #died(what: string): string {
    return `RequestId: ${this.#requestId} Error: ${what}`
  }

  async #within(message: Promise<WorkerMessage>, ms: number): Promise<WorkerMessage> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, ms, 'late')
    })
    const first = await Promise.race([message, late])
    clearTimeout(timer)
    if (first !== 'late') return first
    await this.end()
    throw new FunctionError('Sandbox.Timedout', this.#died(`Task timed out after ${(ms / 1000).toFixed(2)} seconds`))
  }
}

/**
 * The variables of Lambda that libraries look for, and the SDK's own variable for the caller's name in each request, by
 * which a service's log is told by function.
 */
function baseEnvironment(functionName: string): Record<string, string> {
  return {
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(heapMiB),
    AWS_SDK_UA_APP_ID: functionName,
    TZ: ':UTC',
  }
}
