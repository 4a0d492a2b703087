/**
 * Takes a state machine's definition apart for the engine, and refuses at once whatever the engine would ignore or run
 * otherwise than AWS: no machine may silently behave differently here.
 */
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'

export interface Retrier {
  readonly ErrorEquals: readonly string[]
  readonly IntervalSeconds?: number
  readonly BackoffRate?: number
  readonly MaxAttempts?: number
  readonly MaxDelaySeconds?: number
  readonly JitterStrategy?: 'NONE' | 'FULL'
}

export interface TaskState {
  /** Whether the task ends with the answer to its token, rather than with the return of its function. */
  readonly waits: boolean
  readonly timeoutMs: number
  readonly retriers: readonly Retrier[]
}

export interface PreparedMachine {
  readonly engine: StateMachine
  /** By state name, unique in the whole machine. */
  readonly tasks: ReadonlyMap<string, TaskState>
  /** Ms of each Wait state, by state name. */
  readonly waits: ReadonlyMap<string, number>
}

/** `problems` holds every reason, each with its remedy. */
export class DefinitionRefused extends Error {
  override readonly name = 'DefinitionRefused'
  readonly code = 'definition_refused'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The state machine cannot run here as it would on AWS:\n${problems.map((text) => `- ${text}`).join('\n')}`)
    this.problems = problems
  }
}

/** The states with a timer of Muster's, by name. */
interface Timed {
  readonly tasks: Map<string, TaskState>
  readonly waits: Map<string, number>
}

type State = Readonly<Record<string, unknown>> & { readonly Type?: unknown }

interface Level {
  readonly StartAt?: unknown
  readonly States?: Readonly<Record<string, State>>
  readonly TimeoutSeconds?: unknown
}

const common = ['Type', 'Next', 'End']
const result = ['ResultSelector', 'ResultPath', 'Retry', 'Catch']

/** The subset of the States Language whose behaviour here was compared with its specification, by state type. */
const supported: Readonly<Record<string, ReadonlySet<string>>> = {
  Task: new Set([...common, ...result, 'Resource', 'Parameters', 'TimeoutSeconds']),
  Map: new Set([...common, ...result, 'ItemsPath', 'ItemSelector', 'ItemProcessor', 'MaxConcurrencyPath']),
  Choice: new Set([...common, 'Choices', 'Default']),
  Wait: new Set([...common, 'Seconds']),
  Pass: new Set([...common, 'Parameters', 'ResultPath']),
  Succeed: new Set(common),
  Fail: new Set([...common, 'Error', 'Cause']),
}

const resourcePattern = /^arn:[\w-]+:states:::lambda:invoke(\.waitForTaskToken)?$/

/** Parts of the context object that the engine has or `prepare` supplies. */
const contextParts = new Set(['Execution', 'StateMachine', 'Task', 'Map'])

/**
 * Seconds. The engine's own timer is as far away as `setTimeout` allows (2^31 - 1 ms): the timeouts are measured
 * outside of the engine, from the task's real start, which may lie before the last restart.
 */
const engineTimeoutSeconds = 2_147_483

/**
 * The definition as the engine runs it. Throws `DefinitionRefused` with all problems at once. Two parts change:
 * timeouts and retries of tasks and Wait states leave the engine, so that a replay counts them from their real
 * beginning; and `$$.Execution`, which the engine overwrites inside a Map, becomes `$$.Started`.
 */
export function prepare(definition: object): PreparedMachine {
  const text = JSON.stringify(definition)
  const problems: string[] = []
  const timed: Timed = { tasks: new Map(), waits: new Map() }
  for (const [, part = ''] of text.matchAll(/\$\$\.(\w+)/g)) {
    if (!contextParts.has(part)) problems.push(`"$$.${part}" is not known here. Pass it on as data instead.`)
  }
  const copy = JSON.parse(
    text.replaceAll('$$.Execution', () => '$$.Started'),
    (key, value) =>
      // "$" is the default, but the engine would read a field of that name.
      key === 'ResultPath' && value === '$' ? undefined : value,
  ) as Level
  const states = prepareStates(copy, new Set(), timed, problems)
  if (copy.TimeoutSeconds !== undefined) {
    problems.push('The machine has TimeoutSeconds, which has no effect here. Remove it.')
  }
  if (problems.length > 0) throw new DefinitionRefused(problems)
  // The checks above have refused every definition that the library's type does not describe.
  const engine = new StateMachine({ ...copy, States: states } as unknown as StateMachineDefinition, {
    // The definition is linted at its synthesis; here the validator alone would take 200 ms of every start.
    validationOptions: { noValidate: true },
  })
  return { engine, ...timed }
}

function prepareStates(level: Level, names: Set<string>, timed: Timed, problems: string[]): Record<string, unknown> {
  const states = level.States ?? {}
  if (typeof level.StartAt !== 'string' || !(level.StartAt in states)) {
    problems.push(`StartAt is ${JSON.stringify(level.StartAt)}. Name one of the states beside it.`)
  }
  const prepared: Record<string, unknown> = {}
  for (const [name, state] of Object.entries(states)) {
    if (names.has(name)) problems.push(`State "${name}" exists twice. Names must be unique in the whole machine.`)
    names.add(name)
    checkFields(name, state, problems)
    if (state.Type === 'Task') prepared[name] = prepareTask(name, state, timed, problems)
    else if (state.Type === 'Wait') prepared[name] = prepareWait(name, state, timed, problems)
    else if (state.Type === 'Map') prepared[name] = prepareMap(name, state, names, timed, problems)
    else prepared[name] = state
  }
  return prepared
}

function checkFields(name: string, state: State, problems: string[]): void {
  const fields = typeof state.Type === 'string' ? supported[state.Type] : undefined
  if (!fields) {
    problems.push(`State "${name}" has type ${JSON.stringify(state.Type)}. Use ${Object.keys(supported).join(', ')}.`)
    return
  }
  for (const field of Object.keys(state)) {
    if (!fields.has(field)) problems.push(`State "${name}" has ${field}, which has no effect here. Remove it.`)
  }
  const named = JSON.stringify([state.Retry, state.Catch])
  if (named.includes('"States.TaskFailed"')) {
    problems.push(`State "${name}" matches States.TaskFailed. Name the errors, or use States.ALL.`)
  }
}

function prepareTask(name: string, state: State, { tasks }: Timed, problems: string[]): object {
  const match = typeof state.Resource === 'string' ? resourcePattern.exec(state.Resource) : null
  if (!match) {
    problems.push(
      `State "${name}" uses ${JSON.stringify(state.Resource)}. Use lambda:invoke, with or without waitForTaskToken.`,
    )
  }
  if (!isPositive(state.TimeoutSeconds)) {
    problems.push(`State "${name}" has no TimeoutSeconds. Set it: without one a lost answer hangs for a year on AWS.`)
  }
  const { Retry, ...rest } = state
  tasks.set(name, {
    waits: match?.[1] !== undefined,
    timeoutMs: Number(state.TimeoutSeconds) * 1000,
    retriers: (Retry ?? []) as readonly Retrier[],
  })
  return { ...rest, TimeoutSeconds: engineTimeoutSeconds }
}

/** A task without a result: the engine's own Wait would begin anew at every replay. */
function prepareWait(name: string, state: State, { waits }: Timed, problems: string[]): object {
  const { Seconds, ...rest } = state
  if (!isPositive(Seconds)) problems.push(`Wait "${name}" has no Seconds. Give a number above 0.`)
  waits.set(name, Number(Seconds) * 1000)
  return { ...rest, Type: 'Task', Resource: 'wait', ResultPath: null, TimeoutSeconds: engineTimeoutSeconds }
}

function prepareMap(name: string, state: State, names: Set<string>, timed: Timed, problems: string[]): object {
  const processor = (state.ItemProcessor ?? {}) as Level & { ProcessorConfig?: { Mode?: unknown } }
  const mode = processor.ProcessorConfig?.Mode ?? 'INLINE'
  if (mode !== 'INLINE') problems.push(`Map "${name}" is ${JSON.stringify(mode)}. Only INLINE runs here.`)
  return { ...state, ItemProcessor: { ...processor, States: prepareStates(processor, names, timed, problems) } }
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}
