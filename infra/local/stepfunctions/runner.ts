/** Runs executions in the engine, from their beginning or from their journals, and ends each once. */

import type { StateMachine } from 'aws-local-stepfunctions'
import { ServiceError } from '../json-protocol.ts'
import { type PreparedMachine, prepare } from './definition.ts'
import { Refusal, StatesError } from './errors.ts'
import type { Execution, Executions } from './executions.ts'
import type { End, Fact, Outcome } from './journal.ts'
import { isRepeated, type Live } from './live.ts'
import { conclude, type Invoke, Over, performTask, performWait, type TaskHost } from './task.ts'

type EngineEvent = ReturnType<StateMachine['run']>['eventLogs'] extends AsyncGenerator<infer Event> ? Event : never

/**
 * Events of an execution's history; a longer history fails:
 * https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html.
 */
const historyEventsMax = 25_000

/** Characters of a state's input or output in the history for people. */
const historyDataMax = 4_096

export class Runner {
  readonly #executions: Executions
  readonly #invoke: Invoke
  readonly #now: () => number
  /** By digest: a few definitions at most, the current ones and those of earlier executions. */
  readonly #machines = new Map<string, PreparedMachine>()

  constructor(executions: Executions, invoke: Invoke, now: () => number) {
    this.#executions = executions
    this.#invoke = invoke
    this.#now = now
  }

  /**
   * Runs a running execution, unless this process runs it already. Never throws: a failure ends or suspends the
   * execution.
   */
  run(execution: Execution): void {
    const { live } = execution
    if (!live || live.running || live.over) return
    live.running = true
    let machine: PreparedMachine
    try {
      machine = this.#machine(live.started.definition)
    } catch (error) {
      this.#endOrSuspend(execution, live, { status: 'FAILED', error: 'States.Runtime', cause: messageOf(error) })
      return
    }
    const host = this.#host(execution, live)
    const performed = (name: string, perform: (input: unknown) => Promise<unknown>) => [
      name,
      // The engine's own JSON type has no name outside; a task's result was parsed from JSON.
      async (input: unknown) =>
        (await perform(input).catch((error: unknown) => {
          if (!(error instanceof StatesError)) this.#suspend(execution, live, error)
          throw error
        })) as string,
    ]
    const handlers = Object.fromEntries([
      ...[...machine.tasks].map(([name, state]) => performed(name, (input) => performTask(host, name, state, input))),
      ...[...machine.waits].map(([name, ms]) => performed(name, (input) => performWait(host, name, ms, input))),
    ])
    const { result, eventLogs, abort } = machine.engine.run(JSON.parse(live.started.input), {
      context: contextOf(execution, live),
      overrides: { taskResourceLocalHandlers: handlers },
    })
    live.abort = abort
    const written = this.#writeEvents(host, machine, eventLogs).catch((error: unknown) =>
      this.#suspend(execution, live, error),
    )
    void result
      .then(
        (output): End => ({ status: 'SUCCEEDED', output: JSON.stringify(output) }),
        (error: unknown): End => {
          const { name, message } =
            error instanceof Error && error.cause instanceof Error ? error.cause : nameless(error)
          return { status: 'FAILED', error: name, cause: message }
        },
      )
      .then(async (end) => {
        await written
        this.#endOrSuspend(execution, live, end)
      })
  }

  /** Ends an execution from outside. The first end counts. Throws for a suspended execution, which cannot end now. */
  stop(execution: Execution, end: End): void {
    this.#end(execution, end)
    if (execution.live) {
      const sentence = `Execution ${execution.name} is suspended. Start this process again first.`
      throw new ServiceError('InternalFailure', sentence, { status: 500 })
    }
  }

  /** Answers a task token. Throws TaskTimedOut or TaskDoesNotExist; the outcome is on disk by the return. */
  answer(token: string, outcome: Outcome): void {
    const { host, attempt } = this.#waiting(token)
    if (attempt.deadline <= this.#now()) throw timedOut()
    if (!conclude(host, attempt, outcome)) throw timedOut()
  }

  /** Lets go of all running executions and records nothing more: the next start continues them. */
  close(): void {
    for (const { live } of this.#executions.running()) if (live) letGo(live)
  }

  #waiting(token: string) {
    const execution = this.#executions.byToken(token)
    if (!execution) {
      throw new Refusal(
        'TaskDoesNotExist',
        'No execution of this service issued the token. Answer the service that issued it.',
      )
    }
    const { live } = execution
    const attempt = live?.over === false ? live.open.get(token) : undefined
    if (!live || !attempt) throw timedOut()
    return { host: this.#host(execution, live), attempt }
  }

  #machine(digest: string): PreparedMachine {
    const known = this.#machines.get(digest)
    if (known) return known
    const machine = prepare(this.#executions.definition(digest))
    this.#machines.set(digest, machine)
    return machine
  }

  #host(execution: Execution, live: Live): TaskHost {
    return {
      key: execution.key,
      live,
      invoke: this.#invoke,
      now: this.#now,
      record: (fact) => this.#record(execution, live, fact),
    }
  }

  #record(execution: Execution, live: Live, fact: Fact): void {
    if (live.over) throw new Over()
    this.#executions.record(execution, live, fact)
    if (live.lines < historyEventsMax) return
    const cause = `The execution reached the maximum number of history events (${historyEventsMax}).`
    this.#end(execution, { status: 'FAILED', error: 'States.Runtime', cause })
    throw new Over()
  }

  #end(execution: Execution, end: End): void {
    const { live } = execution
    if (!live || live.over) return
    this.#executions.end(execution, end)
    letGo(live)
  }

  #endOrSuspend(execution: Execution, live: Live, end: End): void {
    try {
      this.#end(execution, end)
    } catch (error) {
      this.#suspend(execution, live, error)
    }
  }

  /**
   * The event could not be recorded, so the execution must not go on. The execution stays RUNNING for the next start.
   */
  #suspend(execution: Execution, live: Live, error: unknown): void {
    if (live.over) return
    letGo(live)
    process.emitWarning(
      `Execution ${execution.name} is suspended: ${messageOf(error)}. Free the disk or repair its folder, then start again.`,
      { code: 'execution_suspended' },
    )
  }

  async #writeEvents(host: TaskHost, { waits }: PreparedMachine, events: AsyncGenerator<EngineEvent>): Promise<void> {
    for await (const event of events) {
      const fact = factOf(event, waits)
      if (!fact || host.live.over || isRepeated(host.live, fact)) continue
      host.record(fact)
    }
  }
}

/** Ends every wait of an execution, the engine first, so that the engine ignores the ends of the other waits. */
function letGo(live: Live): void {
  live.over = true
  live.abort?.()
  for (const stop of live.stops) stop()
  live.stops.clear()
  live.attempts.clear()
  live.open.clear()
}

/** `Started` instead of `Execution`, which the engine overwrites (see `prepare`). */
function contextOf(execution: Execution, live: Live): Record<string, unknown> {
  return {
    Started: {
      Id: execution.arn,
      Name: execution.name,
      Input: JSON.parse(live.started.input),
      StartTime: new Date(live.startedAt).toISOString(),
    },
    StateMachine: { Id: execution.machineArn, Name: execution.machineArn.split(':').at(-1) },
    Task: { Token: live.started.placeholder },
  }
}

function factOf(event: EngineEvent, waits: PreparedMachine['waits']): Fact | undefined {
  // A Wait state is a task to the engine alone (see `prepare`).
  const typeOf = ({ name, type }: { name: string; type: string }) => (waits.has(name) ? 'Wait' : type)
  switch (event.type) {
    case 'StateEntered': {
      const { state } = event
      return { kind: 'entered', state: state.name, type: typeOf(state), data: dataOf(state.input) }
    }
    case 'StateExited': {
      const { state } = event
      return { kind: 'exited', state: state.name, type: typeOf(state), data: dataOf(state.output) }
    }
    case 'MapIterationStarted':
    case 'MapIterationSucceeded':
    case 'MapIterationFailed':
      return { kind: 'iteration', change: event.type, state: event.parentState.name, index: event.index }
    default:
      return undefined
  }
}

function dataOf(value: unknown): string | null {
  const text = JSON.stringify(value ?? null)
  return text.length <= historyDataMax ? text : null
}

function timedOut(): Refusal {
  return new Refusal('TaskTimedOut', 'The task is not waiting any more. Its execution has the outcome.')
}

function nameless(error: unknown): { name: string; message: string } {
  return { name: 'States.Runtime', message: messageOf(error) }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
