/** The messages between the runtime and its workers. Events and results travel as JSON text, as on Lambda. */

/** Given to a worker at its start. */
export interface WorkerOptions {
  /** Absolute path of the bundle. */
  readonly bundle: string
  /** Name of the bundle's export. */
  readonly handler: string
  readonly functionName: string
  readonly functionArn: string
  readonly memoryMiB: number
}

export interface InvokeMessage {
  readonly requestId: string
  readonly event: string
  /** Ms since the epoch. */
  readonly deadline: number
}

export type WorkerMessage =
  /** The bundle is loaded; from now on the worker takes events, one at a time. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly body: string }
  /** Of an event, or of the load of the bundle. */
  | { readonly kind: 'error'; readonly errorType: string; readonly errorMessage: string }
