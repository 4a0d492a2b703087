/**
 * One attempt at a task: invokes the function, and waits for the function's outcome, the token's answer or the timeout.
 */
import type { Outcome } from '../../../../infra/local/stepfunctions/journal.ts'
import { jsonWithin } from './data.ts'
import { failureOf } from './failures.ts'
import type { TaskState } from './program.ts'
import type { Run, Wait } from './run.ts'
import type { Waiting } from './tokens.ts'
import type { InvocationOutcome } from './world.ts'

export class Attempt implements Wait {
  readonly #run: Run
  readonly #state: TaskState
  readonly #input: unknown
  readonly #done: (outcome: Outcome) => void
  #waiting: Waiting | undefined
  #isOver = false
  #cancelTimer: (() => void) | undefined
  #cancelInvocation: (() => void) | undefined

  /** Calls `done` once, unless the attempt is stopped before. */
  constructor(run: Run, state: TaskState, input: unknown, done: (outcome: Outcome) => void) {
    this.#run = run
    this.#state = state
    this.#input = input
    this.#done = done
  }

  /** Throws a `StatesError` if the payload cannot be made. */
  start(): void {
    const { world, tokens, context } = this.#run
    const { functionArn, name, timeoutMs, waits } = this.#state
    const token = waits ? tokens.issue() : undefined
    const scope = { data: this.#input, context: token === undefined ? context : { ...context, Task: { Token: token } } }
    const payload = jsonWithin(this.#state.payload(scope), 'The payload')
    const deadline = world.now() + timeoutMs
    if (token !== undefined) {
      this.#waiting = { token, state: name, deadline, settle: (outcome) => this.#settle(outcome) }
      tokens.open(this.#waiting)
      this.#run.opened.add(this.#waiting)
    }
    this.#run.record({
      kind: 'attempt',
      task: name,
      functionName: functionArn,
      deadline,
      ...(token !== undefined && { token }),
    })
    // The record may have exceeded the execution's limit of events; then the execution has stopped this attempt.
    if (this.#isOver) return
    this.#cancelTimer = world.after(timeoutMs, () => this.#settle({ error: 'States.Timeout', cause: '' }))
    const cancel = world.invoke(functionArn, JSON.parse(payload), (outcome) => this.#returned(outcome))
    // A world may end the attempt within the call, by an answer or by the end of the execution.
    if (this.#isOver) cancel?.()
    else this.#cancelInvocation = cancel
  }

  stop(): void {
    this.#isOver = true
    this.#cancelTimer?.()
    this.#cancelInvocation?.()
    if (!this.#waiting) return
    this.#run.tokens.close(this.#waiting.token)
    this.#run.opened.delete(this.#waiting)
  }

  #returned(outcome: InvocationOutcome): void {
    if (this.#isOver) return
    this.#cancelInvocation = undefined
    if ('error' in outcome) this.#settle({ error: outcome.error, cause: outcome.cause })
    else if (this.#state.waits) this.#run.record({ kind: 'submitted', task: this.#state.name })
    else this.#settle(resultOf(outcome.ok))
  }

  #settle(outcome: Outcome): void {
    if (this.#isOver) return
    this.stop()
    this.#run.record({ kind: 'outcome', task: this.#state.name, ...outcome })
    this.#done(outcome)
  }
}

/** The result of the integration `lambda:invoke` wraps the function's return value. */
function resultOf(payload: unknown): Outcome {
  try {
    const result = { ExecutedVersion: '$LATEST', Payload: payload ?? null, StatusCode: 200 }
    return { output: jsonWithin(result, 'The result') }
  } catch (error) {
    return failureOf(error)
  }
}
