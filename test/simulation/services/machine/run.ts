/** A running execution: its record, its tokens and its single end. */
import type { End, EndStatus, Fact, Line } from '../../../../infra/local/stepfunctions/journal.ts'
import { Branch } from './branch.ts'
import type { Execution, OpenToken } from './execution.ts'
import type { LongState, Program, ProgramState } from './program.ts'
import type { Tokens } from './tokens.ts'
import type { MachineWorld } from './world.ts'

/** Work that takes time and can be stopped. Stopped work reports nothing more. */
export interface Wait {
  stop(): void
}

/**
 * The limit of events in an execution's history, beyond which the execution fails:
 * https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html.
 */
const historyEventsMax = 25_000

export interface Identity {
  readonly sequence: number
  readonly machineArn: string
  readonly arn: string
  readonly name: string
  readonly input: string
}

export class Run implements Execution {
  readonly sequence: number
  readonly arn: string
  readonly name: string
  readonly input: string
  readonly startedAt: number
  readonly world: MachineWorld
  readonly tokens: Tokens
  /** The part of the context object that is the same in every state. */
  readonly context: Readonly<Record<string, unknown>>
  readonly entered = new Map<string, number>()
  readonly lines: Line[] = []
  /** Tasks with a token that accepts an answer. */
  readonly opened = new Set<OpenToken>()
  status: 'RUNNING' | EndStatus = 'RUNNING'
  stoppedAt: number | undefined
  output: string | undefined
  error: string | undefined
  cause: string | undefined
  transitions = 0
  retries = 0
  readonly #root: Branch
  #events = 0

  constructor(identity: Identity, program: Program, world: MachineWorld, tokens: Tokens) {
    this.sequence = identity.sequence
    this.arn = identity.arn
    this.name = identity.name
    this.input = identity.input
    this.world = world
    this.tokens = tokens
    this.startedAt = world.now()
    const StartTime = new Date(this.startedAt).toISOString()
    this.context = {
      Execution: { Id: this.arn, Name: this.name, Input: JSON.parse(this.input), StartTime },
      StateMachine: { Id: identity.machineArn, Name: identity.machineArn.split(':').at(-1) },
    }
    this.#root = new Branch(this, program.level, (end) => {
      if ('error' in end) this.end({ status: 'FAILED', ...end })
      else this.end({ status: 'SUCCEEDED', output: JSON.stringify(end.output) })
    })
    this.record({ kind: 'started', arn: this.arn, input: this.input, definition: '', placeholder: '' })
  }

  get isOver(): boolean {
    return this.status !== 'RUNNING'
  }

  /** Enters the first state, unless the execution was stopped before. */
  begin(): void {
    if (!this.isOver) this.#root.start(JSON.parse(this.input))
  }

  /** The first end counts. */
  end(end: End): void {
    if (this.isOver) return
    this.record({ kind: 'ended', ...end })
    this.status = end.status
    this.stoppedAt = this.world.now()
    this.output = end.output
    this.error = end.error
    this.cause = end.cause
    this.#root.stop()
  }

  enter(state: ProgramState): void {
    this.transitions += 1
    this.entered.set(state.name, (this.entered.get(state.name) ?? 0) + 1)
    this.record({ kind: 'entered', state: state.name, type: state.type, data: null })
  }

  exit(state: ProgramState): void {
    this.record({ kind: 'exited', state: state.name, type: state.type, data: null })
  }

  retry(state: LongState, until: number): void {
    this.retries += 1
    this.record({ kind: 'retry', task: state.name, until })
  }

  /** Records a fact, unless the execution has ended. One event too many ends the execution. */
  record(fact: Fact): void {
    if (this.isOver) return
    this.lines.push({ ...fact, at: this.world.now() })
    this.#events += eventsOf(fact)
    if (this.#events < historyEventsMax || fact.kind === 'ended') return
    const cause = `The execution reached the maximum number of history events (${historyEventsMax}).`
    this.end({ status: 'FAILED', error: 'States.Runtime', cause })
  }

  current(): string[] {
    return this.isOver ? [] : this.#root.current()
  }

  openTokens(): OpenToken[] {
    return [...this.opened].map(({ token, state, deadline }) => ({ token, state, deadline }))
  }
}

/** The number of history events of a fact. */
function eventsOf(fact: Fact): number {
  if (fact.kind === 'attempt') return 2
  return fact.kind === 'retry' ? 0 : 1
}
