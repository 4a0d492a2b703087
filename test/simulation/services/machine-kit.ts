/** A simulated machine in an empty world, whose invocations the test answers. */
import { functionArn, machineArn } from '../../infra/local/stepfunctions/machine.ts'
import {
  compileMachine,
  type Execution,
  type InvocationOutcome,
  type SimulatedMachine,
  simulateMachine,
} from './machine.ts'
import { EventQueue } from './machine-queue.ts'

export interface Call {
  /** ms since the beginning. */
  readonly atMs: number
  /** The function's name. */
  readonly room: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly done: (outcome: InvocationOutcome) => void
  /** True once the machine has cancelled the invocation. */
  isCancelled: boolean
}

export interface OpenedMachine {
  readonly queue: EventQueue
  readonly machine: SimulatedMachine
  /** In order of arrival. */
  readonly calls: Call[]
  /** The API's answer; `error` is the code of a refusal. */
  request(action: string, body?: object): Record<string, unknown> & { readonly error?: string }
  /** Starts an execution and runs up to its first wait. */
  start(input?: object, name?: string): Execution
  callsOf(room: string): Call[]
}

/** `respond` receives every call on arrival. `drawn` is the result of every jitter draw. */
export function openMachine(
  definition: object,
  options: { respond?: (call: Call) => void; drawn?: number } = {},
): OpenedMachine {
  const queue = new EventQueue()
  const calls: Call[] = []
  const machine = simulateMachine({
    machineArn,
    program: compileMachine(definition),
    world: {
      now: queue.now,
      after: (ms, fn) => queue.after(ms, fn),
      random: () => options.drawn ?? 0.5,
      invoke(arn, payload, done) {
        const room = arn.replace(functionArn(''), '')
        const call: Call = {
          atMs: queue.elapsedMs,
          room,
          payload: payload as Call['payload'],
          done,
          isCancelled: false,
        }
        calls.push(call)
        options.respond?.(call)
        return () => {
          call.isCancelled = true
        }
      },
    },
  })
  function request(action: string, body: object = {}): Record<string, unknown> & { readonly error?: string } {
    const headers = { 'x-amz-target': `AWSStepFunctions.${action}` }
    const { status, body: text } = machine.answer({ method: 'POST', path: '/', headers, body: JSON.stringify(body) })
    const answer = JSON.parse(text) as Record<string, unknown>
    return status === 200 ? answer : { error: String(answer.__type).split('#')[1] ?? '' }
  }
  return {
    queue,
    machine,
    calls,
    request,
    start(input = {}, name = 'run') {
      request('StartExecution', { stateMachineArn: machineArn, name, input: JSON.stringify(input) })
      queue.run(queue.elapsedMs)
      const execution = machine.execution(name)
      if (!execution) throw new Error('Expected the execution that was started')
      return execution
    },
    callsOf: (room) => calls.filter((call) => call.room === room),
  }
}
