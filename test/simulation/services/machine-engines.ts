/** Plays one script with each engine: the embedded engine on vitest's timers, and the simulated engine. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { ServiceError } from '../../../infra/local/json-protocol.ts'
import { Executions } from '../../../infra/local/stepfunctions/executions.ts'
import { Runner } from '../../../infra/local/stepfunctions/runner.ts'
import { functionError, machineArn } from '../../infra/local/stepfunctions/machine.ts'
import { compileMachine, simulateMachine } from './machine.ts'
import { EventQueue } from './machine-queue.ts'
import { definition, runInput, type Script, ScriptedRooms } from './machine-rooms.ts'

/** All facts about an execution on which both engines must agree. */
export interface Played {
  readonly calls: readonly string[]
  readonly answered: readonly (string | undefined)[]
  readonly status: string
  readonly error: string | undefined
  readonly cause: string | undefined
  readonly output: unknown
  /** ms from start to end. */
  readonly tookMs: number
  /** The number of entries of each state. */
  readonly entered: Readonly<Record<string, number>>
}

/** The jitter draw in both engines. */
const drawn = 0.5

const program = compileMachine(definition)

/** In virtual time. */
export function playSimulated(script: Script): Played {
  const queue = new EventQueue()
  const rooms: ScriptedRooms = new ScriptedRooms(script, {
    elapsedMs: () => queue.elapsedMs,
    after: (ms, fn) => queue.after(ms, fn),
    answer(taskToken, outcome) {
      const success = 'output' in outcome
      const answered = request(success ? 'SendTaskSuccess' : 'SendTaskFailure', { taskToken, ...outcome })
      return answered.__type?.split('#')[1]
    },
  })
  const machine = simulateMachine({
    machineArn,
    program,
    world: {
      now: queue.now,
      after: (ms, fn) => queue.after(ms, fn),
      random: () => drawn,
      invoke(arn, payload, done) {
        rooms.invoke(arn, payload, done)
        return undefined
      },
    },
  })
  function request(action: string, body: object): { __type?: string } {
    const headers = { 'x-amz-target': `AWSStepFunctions.${action}` }
    return JSON.parse(machine.answer({ method: 'POST', path: '/', headers, body: JSON.stringify(body) }).body)
  }
  request('StartExecution', { stateMachineArn: machineArn, name: 'run', input: runInput })
  queue.run()
  const execution = machine.execution('run')
  if (!execution) throw new Error('Expected the execution that was started')
  return {
    ...played(rooms, execution),
    tookMs: (execution.stoppedAt ?? Number.NaN) - execution.startedAt,
    entered: Object.fromEntries(execution.entered),
  }
}

/**
 * With vitest's timers: between two timers, the engine gets turns of the real event loop until nothing but a timer can
 * wake the engine.
 */
export async function playEmbedded(script: Script): Promise<Played> {
  // Both engines begin at the same time, which the machine tells to Plan.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: new EventQueue().now() })
  const draw = vi.spyOn(Math, 'random').mockReturnValue(drawn)
  const directory = mkdtempSync(join(tmpdir(), 'engines-'))
  try {
    return await playIn(directory, script)
  } finally {
    rmSync(directory, { recursive: true, force: true })
    draw.mockRestore()
    vi.useRealTimers()
  }
}

async function playIn(directory: string, script: Script): Promise<Played> {
  const beginning = Date.now()
  const rooms: ScriptedRooms = new ScriptedRooms(script, {
    elapsedMs: () => Date.now() - beginning,
    after: (ms, fn) => void setTimeout(fn, ms),
    answer(token, outcome) {
      try {
        runner.answer(token, outcome)
        return undefined
      } catch (error) {
        if (error instanceof ServiceError) return error.code
        throw error
      }
    },
  })
  const executions = new Executions(directory, Date.now)
  const invoke = (arn: string, payload: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      rooms.invoke(arn, payload, (outcome) => {
        if ('ok' in outcome) resolve(outcome.ok)
        else reject(functionError(outcome.error))
      })
    })
  const runner: Runner = new Runner(executions, invoke, Date.now)
  const execution = executions.start(machineArn, 'run', runInput, definition)
  runner.run(execution)
  await turns()
  // Runs the rooms' timers too, so that their actions after the end become visible.
  while (vi.getTimerCount() > 0) {
    vi.advanceTimersToNextTimer()
    await turns()
  }
  const lines = executions.read(execution)
  const end = lines.at(-1)
  if (end?.kind !== 'ended') throw new Error('Expected the end of the execution')
  const entered: Record<string, number> = {}
  for (const line of lines) if (line.kind === 'entered') entered[line.state] = (entered[line.state] ?? 0) + 1
  return { ...played(rooms, end), tookMs: (execution.stoppedAt ?? Number.NaN) - beginning, entered }
}

function played(
  rooms: ScriptedRooms,
  end: { status: string; error?: string | undefined; cause?: string | undefined; output?: string | undefined },
): Omit<Played, 'tookMs' | 'entered'> {
  return {
    calls: rooms.calls,
    answered: rooms.answered,
    status: end.status,
    error: end.error,
    cause: end.cause,
    output: end.output === undefined ? undefined : JSON.parse(end.output),
  }
}

/** More turns of the event loop than the engine ever needs between two timers. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
