/**
 * One container of a room, like Lambda's: handles one event at a time, is frozen between events, and ends by a timeout
 * or a crash.
 */
import { type RoomName, rooms } from '../../../infra/rooms.ts'
import { type Actor, actAs, newActor } from './actor.ts'
import type { ColdStart, Handler, RoomHooks } from './bundle.ts'
import type { Timeline } from './timeline.ts'

/** The end of an invocation as its caller sees it. Results travel as JSON text. */
export type InvocationEnd =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'error'; readonly errorType: string; readonly errorMessage: string }

export interface ContainerOptions {
  readonly timeline: Timeline
  readonly coldStart: ColdStart
  readonly room: RoomName
  /** The container's name in the trace. */
  readonly name: string
  readonly environment: Readonly<Record<string, string>>
  readonly hooks: RoomHooks
  readonly skewMs: number
}

export class Container {
  readonly actor: Actor
  readonly room: RoomName
  readonly #options: ContainerOptions
  #handler: Handler | undefined
  #end: ((end: InvocationEnd) => void) | undefined

  /** Loads nothing before the first event. */
  constructor(options: ContainerOptions) {
    this.#options = options
    this.room = options.room
    this.actor = newActor(options.name, options.skewMs)
  }

  /** True while the container may take an event. */
  get idle(): boolean {
    return this.#end === undefined && this.actor.state !== 'killed'
  }

  /**
   * Handles one event and calls `ended` once in any case. `Sandbox.Timedout` comes after the room's timeout,
   * `Runtime.ExitError` when the container is killed; both end the container and name the invocation that died.
   */
  invoke(requestId: string, event: string, ended: (end: InvocationEnd) => void): void {
    if (!this.idle) throw new Error(`${this.actor.name} takes no event now.`)
    const { timeline, room } = this.#options
    const timeoutMs = rooms[room].timeoutSeconds * 1000
    const deadline = timeline.now + timeoutMs
    const timeout = timeline.after(timeoutMs, supervisor, () =>
      this.#die('Sandbox.Timedout', `Error: Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`),
    )
    this.#end = (end) => {
      this.#end = undefined
      timeout.cancel()
      if (this.actor.state === 'running') this.actor.state = 'frozen'
      ended(end)
    }
    this.actor.invocation = requestId
    if (this.actor.state === 'frozen') timeline.thaw(this.actor)
    const context = {
      awsRequestId: requestId,
      functionName: room,
      getRemainingTimeInMillis: () => Math.max(0, deadline - timeline.now),
    }
    void actAs(this.actor, () => this.#handle(event, context))
  }

  /** Ends the container at once: pending waits never end. Repeatable. */
  kill(): void {
    this.#die('Runtime.ExitError', 'Error: Runtime exited with error: signal: killed')
  }

  async #handle(event: string, context: object): Promise<void> {
    const { coldStart, room, environment, hooks } = this.#options
    try {
      this.#handler ??= coldStart(room, environment, hooks)
      const result = await this.#handler(JSON.parse(event), context)
      this.#end?.({ kind: 'result', json: JSON.stringify(result) ?? 'null' })
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) }
      this.#end?.({ kind: 'error', errorType: name, errorMessage: message })
    }
  }

  #die(errorType: string, what: string): void {
    this.#options.timeline.kill(this.actor)
    this.#end?.({ kind: 'error', errorType, errorMessage: `RequestId: ${this.actor.invocation} ${what}` })
  }
}

/** Lambda itself, which ends invocations at the timeout. */
const supervisor = newActor('lambda')
