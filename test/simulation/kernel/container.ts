/** One container of a room, as Lambda runs it: one event at a time, frozen in between, ended by a timeout or by a crash. */
import { type RoomName, rooms } from '../../../infra/rooms.ts'
import { type Actor, actAs, newActor } from './actor.ts'
import type { ColdStart, Handler, RoomHooks } from './bundle.ts'
import type { Timeline } from './timeline.ts'

/** How an invocation ended, as its caller hears of it. Results travel as JSON text. */
export type InvocationEnd =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'error'; readonly errorType: string; readonly errorMessage: string }

export interface ContainerOptions {
  readonly timeline: Timeline
  readonly coldStart: ColdStart
  readonly room: RoomName
  /** Told apart from others in the trace. */
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

  /** Nothing is loaded before the first event. */
  constructor(options: ContainerOptions) {
    this.#options = options
    this.room = options.room
    this.actor = newActor(options.name, options.skewMs)
  }

  /** True while it may take an event. */
  get idle(): boolean {
    return this.#end === undefined && this.actor.state !== 'killed'
  }

  /**
   * Handles one event; `ended` is called once, whatever happens: also `Sandbox.Timedout` after the room's timeout and
   * `Runtime.ExitError` when the container is killed, by which the container is gone. Both name the invocation that died.
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

  /** Ends it where it is: what it waits for never comes. Repeatable. */
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

/** Lambda itself, which ends what takes too long. */
const supervisor = newActor('lambda')
