/**
 * Parses a definition. The parser understands the features of Muster's own machine and refuses everything else, so that
 * the simulation never runs a machine differently from AWS.
 */
import { compileRule } from './choice.ts'
import type { Catcher, Retrier } from './failures.ts'
import { compileMerge, compilePath, compileTemplate, type Read } from './paths.ts'
import type { Level, MapState, Program, ProgramState, TaskState } from './program.ts'

type Fields = Readonly<Record<string, unknown>>

const common = ['Type', 'Comment']
const moving = [...common, 'Next', 'End']
const long = [...moving, 'ResultSelector', 'ResultPath', 'Retry', 'Catch']

const known: Readonly<Record<string, readonly string[]>> = {
  Task: [...long, 'Resource', 'Parameters', 'TimeoutSeconds'],
  Map: [...long, 'ItemsPath', 'MaxConcurrencyPath', 'ItemSelector', 'ItemProcessor'],
  Wait: [...moving, 'Seconds'],
  Pass: [...moving, 'Parameters', 'ResultPath'],
  Choice: [...common, 'Choices', 'Default'],
  Succeed: common,
  Fail: [...common, 'Error', 'Cause'],
}

const resourcePattern = /^arn:[\w-]+:states:::lambda:invoke(\.waitForTaskToken)?$/

/** Parts of the context object outside an ItemSelector. */
const everywhere = ['Execution', 'StateMachine']

/**
 * Throws one error with every problem of the definition. The program keeps the definition itself, which must not
 * change.
 */
export function compileMachine(definition: object): Program {
  const problems: string[] = []
  const level = compileLevel(definition as Fields, ['StartAt', 'States', 'Comment'], new Set(), problems)
  if (problems.length === 0) return { definition, level }
  throw new Error(`The definition cannot be simulated:\n${problems.map((text) => `- ${text}`).join('\n')}`)
}

function compileLevel(from: Fields, allowed: readonly string[], names: Set<string>, problems: string[]): Level {
  checkFields('The machine or a Map', from, allowed, problems)
  const fields = recordOf(from.States)
  const states = new Map<string, ProgramState>()
  for (const [name, state] of Object.entries(fields)) {
    const own: string[] = []
    if (names.has(name)) own.push('The name exists twice.')
    names.add(name)
    const compiled = compileState(name, recordOf(state), names, own)
    if (compiled) {
      states.set(name, compiled)
      for (const next of targetsOf(compiled)) if (!Object.hasOwn(fields, next)) own.push(`There is no state "${next}".`)
    }
    problems.push(...own.map((problem) => `State "${name}": ${problem}`))
  }
  const start = String(from.StartAt)
  if (!Object.hasOwn(fields, start)) problems.push(`StartAt is ${JSON.stringify(from.StartAt)}, which is no state.`)
  return { start, states }
}

function compileState(name: string, fields: Fields, names: Set<string>, problems: string[]): ProgramState | undefined {
  const type = String(fields.Type)
  const allowed = Object.hasOwn(known, type) ? known[type] : undefined
  if (!allowed) {
    problems.push(`Type ${type} is not known here.`)
    return undefined
  }
  checkFields('It', fields, allowed, problems)
  switch (type) {
    case 'Task':
      return compileTask(name, fields, problems)
    case 'Map':
      return compileMap(name, fields, names, problems)
    case 'Wait':
      return {
        type,
        name,
        ms: numberOf(fields, 'Seconds', undefined, problems) * 1000,
        next: nextOf(fields, problems),
      }
    case 'Pass':
      return {
        type,
        name,
        result: compileOptional(fields.Parameters, everywhere, problems),
        merge: compileMerge(fields.ResultPath, problems),
        next: nextOf(fields, problems),
      }
    case 'Choice':
      return {
        type,
        name,
        rules: arrayOf(fields.Choices).map((rule) => compileRule(recordOf(rule), problems)),
        otherwise: fields.Default === undefined ? undefined : String(fields.Default),
      }
    case 'Fail':
      return { type, name, error: String(fields.Error ?? ''), cause: String(fields.Cause ?? '') }
    default:
      return { type: 'Succeed', name }
  }
}

function compileTask(name: string, fields: Fields, problems: string[]): TaskState {
  const resource = resourcePattern.exec(String(fields.Resource))
  if (!resource) problems.push(`Resource ${JSON.stringify(fields.Resource)} is not known here.`)
  const waits = resource?.[1] !== undefined
  const parameters = recordOf(fields.Parameters)
  checkFields('Parameters', parameters, ['FunctionName', 'Payload'], problems)
  if (typeof parameters.FunctionName !== 'string') problems.push('FunctionName is no string.')
  return {
    type: 'Task',
    ...compileLong(name, fields, problems),
    functionArn: String(parameters.FunctionName),
    payload: compileTemplate(parameters.Payload ?? {}, problems, waits ? [...everywhere, 'Task'] : everywhere),
    waits,
    timeoutMs: numberOf(fields, 'TimeoutSeconds', undefined, problems) * 1000,
  }
}

function compileMap(name: string, fields: Fields, names: Set<string>, problems: string[]): MapState {
  const processor = recordOf(fields.ItemProcessor)
  if (recordOf(processor.ProcessorConfig).Mode !== 'INLINE') problems.push('Its ProcessorConfig has not Mode INLINE.')
  const inItem = [...everywhere, 'Map']
  return {
    type: 'Map',
    ...compileLong(name, fields, problems),
    items: compilePath(fields.ItemsPath ?? '$', problems),
    width: fields.MaxConcurrencyPath === undefined ? () => 0 : compilePath(fields.MaxConcurrencyPath, problems),
    item:
      fields.ItemSelector === undefined
        ? compilePath('$$.Map.Item.Value', problems, inItem)
        : compileTemplate(fields.ItemSelector, problems, inItem),
    level: compileLevel(processor, ['StartAt', 'States', 'Comment', 'ProcessorConfig'], names, problems),
  }
}

function compileLong(name: string, fields: Fields, problems: string[]) {
  return {
    name,
    select:
      fields.ResultSelector === undefined ? undefined : compileTemplate(fields.ResultSelector, problems, everywhere),
    merge: compileMerge(fields.ResultPath, problems),
    retriers: arrayOf(fields.Retry).map((retrier) => compileRetrier(recordOf(retrier), problems)),
    catchers: arrayOf(fields.Catch).map((catcher) => compileCatcher(recordOf(catcher), problems)),
    next: nextOf(fields, problems),
  }
}

/** The defaults of https://states-language.net/spec.html#retrying-after-error. */
function compileRetrier(fields: Fields, problems: string[]): Retrier {
  const numbers = ['IntervalSeconds', 'BackoffRate', 'MaxAttempts', 'MaxDelaySeconds']
  checkFields('Retry', fields, ['ErrorEquals', 'JitterStrategy', ...numbers], problems)
  const jitter = fields.JitterStrategy ?? 'NONE'
  if (jitter !== 'FULL' && jitter !== 'NONE') problems.push(`JitterStrategy ${JSON.stringify(jitter)} is not known.`)
  return {
    errors: arrayOf(fields.ErrorEquals).map(String),
    intervalMs: numberOf(fields, 'IntervalSeconds', 1, problems) * 1000,
    backoffRate: numberOf(fields, 'BackoffRate', 2, problems),
    attemptsMax: fields.MaxAttempts === 0 ? 0 : numberOf(fields, 'MaxAttempts', 3, problems),
    delayMsMax: numberOf(fields, 'MaxDelaySeconds', Number.POSITIVE_INFINITY, problems) * 1000,
    isJittered: jitter === 'FULL',
  }
}

function compileCatcher(fields: Fields, problems: string[]): Catcher {
  checkFields('Catch', fields, ['ErrorEquals', 'ResultPath', 'Next'], problems)
  return {
    errors: arrayOf(fields.ErrorEquals).map(String),
    merge: compileMerge(fields.ResultPath, problems),
    next: String(fields.Next),
  }
}

function compileOptional(template: unknown, parts: readonly string[], problems: string[]): Read {
  return template === undefined ? ({ data }) => data : compileTemplate(template, problems, parts)
}

/** Every possible next state. */
function targetsOf(state: ProgramState): string[] {
  if (state.type === 'Succeed' || state.type === 'Fail') return []
  if (state.type === 'Choice') {
    return [...state.rules.map(({ next }) => next), ...(state.otherwise === undefined ? [] : [state.otherwise])]
  }
  const caught = state.type === 'Pass' || state.type === 'Wait' ? [] : state.catchers.map(({ next }) => next)
  return state.next === undefined ? caught : [state.next, ...caught]
}

function nextOf(fields: Fields, problems: string[]): string | undefined {
  if (typeof fields.Next === 'string' && fields.End === undefined) return fields.Next
  if (fields.End !== true || fields.Next !== undefined) problems.push('It needs either Next or "End": true.')
  return undefined
}

function checkFields(what: string, fields: Fields, allowed: readonly string[], problems: string[]): void {
  for (const field of Object.keys(fields)) {
    if (!allowed.includes(field)) problems.push(`${what} has ${field}, which is not simulated.`)
  }
}

function numberOf(fields: Fields, field: string, otherwise: number | undefined, problems: string[]): number {
  const value = fields[field] ?? otherwise
  if (typeof value === 'number' && value > 0) return value
  problems.push(`${field} is ${JSON.stringify(value)}. Give a number above 0.`)
  return 1
}

function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
