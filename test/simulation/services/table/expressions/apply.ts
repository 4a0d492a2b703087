/** Applies an update to an item. The item itself stays unchanged: the update copies values along its paths only. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { addDecimals, subtractDecimals } from '../decimal.ts'
import { type Attributes, type AttributeValue, typeOf } from '../values.ts'
import { aliased, type Scope, stepsOf, valueAt } from './scope.ts'
import type { Action, Path, SetValue } from './syntax.ts'

type Step = string | number
type MapCopy = Record<string, AttributeValue>
/** During an update a list may have holes, which the end of the update closes. */
type ListCopy = (AttributeValue | undefined)[]

/** The item after all actions; every operand is read from the item before the update. Throws ValidationException. */
export function apply(item: Attributes, actions: readonly Action[], scope: Scope): Attributes {
  const changes = actions.map((action) => ({
    steps: stepsOf(action.path, scope),
    value: valueFor(item, action, scope),
  }))
  const draft = new Draft(item)
  for (const { steps, value } of changes) draft.put(steps, value)
  return draft.finish()
}

/** An action's new value for its path; undefined if the action removes the value. */
function valueFor(item: Attributes, action: Action, scope: Scope): AttributeValue | undefined {
  switch (action.kind) {
    case 'set':
      return setValue(item, action.value, scope)
    case 'remove':
      return undefined
    case 'add':
      return added(valueAt(item, action.path, scope), aliased(action.value, scope))
    case 'delete':
      return without(valueAt(item, action.path, scope), aliased(action.value, scope))
  }
}

function setValue(item: Attributes, value: SetValue, scope: Scope): AttributeValue {
  switch (value.kind) {
    case 'value':
      return aliased(value, scope)
    case 'path':
      return existing(item, value, scope)
    case 'if_not_exists':
      return valueAt(item, value.path, scope) ?? setValue(item, value.otherwise, scope)
    case 'list_append': {
      const [first, second] = [setValue(item, value.first, scope).L, setValue(item, value.second, scope).L]
      return first !== undefined && second !== undefined ? { L: [...first, ...second] } : refuseType()
    }
    case 'plus':
    case 'minus': {
      const [left, right] = [setValue(item, value.left, scope).N, setValue(item, value.right, scope).N]
      if (left === undefined || right === undefined) return refuseType()
      return { N: value.kind === 'plus' ? addDecimals(left, right) : subtractDecimals(left, right) }
    }
  }
}

function existing(item: Attributes, path: Path, scope: Scope): AttributeValue {
  const value = valueAt(item, path, scope)
  if (value !== undefined) return value
  throw validationError('The provided expression refers to an attribute that does not exist in the item')
}

function added(before: AttributeValue | undefined, more: AttributeValue): AttributeValue {
  if (before === undefined) return more
  if (before.N !== undefined && more.N !== undefined) return { N: addDecimals(before.N, more.N) }
  const type = typeOf(more)
  if (type !== 'SS' && type !== 'NS' && type !== 'BS') return refuseType()
  const members = before[type]
  if (members === undefined) return refuseType()
  return { [type]: [...new Set([...members, ...(more[type] ?? [])])] }
}

/** An empty set is no attribute. */
function without(before: AttributeValue | undefined, less: AttributeValue): AttributeValue | undefined {
  if (before === undefined) return undefined
  const type = typeOf(less)
  if (type !== 'SS' && type !== 'NS' && type !== 'BS') return refuseType()
  const members = before[type]
  if (members === undefined) return refuseType()
  const left = members.filter((each) => !less[type]?.includes(each))
  return left.length === 0 ? undefined : { [type]: left }
}

function refuseType(): never {
  throw validationError('An operand in the update expression has an incorrect data type')
}

/** A copy of an item that copies each map and list at its first change. */
class Draft {
  readonly #item: MapCopy
  /** Maps and lists that the draft has copied and may change. */
  readonly #own = new Set<object>()

  constructor(item: Attributes) {
    this.#item = { ...item }
  }

  put(steps: readonly Step[], value: AttributeValue | undefined): void {
    const last = steps.at(-1)
    const parent = this.#parentOf(steps)
    if (Array.isArray(parent) && typeof last === 'number') {
      if (value !== undefined || last < parent.length) parent[last] = value
    } else if (!Array.isArray(parent) && typeof last === 'string') {
      if (value === undefined) delete parent[last]
      else parent[last] = value
    } else refusePath()
  }

  finish(): Attributes {
    for (const own of this.#own) {
      if (!Array.isArray(own)) continue
      const kept = own.filter((each) => each !== undefined)
      own.splice(0, own.length, ...kept)
    }
    return this.#item
  }

  #parentOf(steps: readonly Step[]): MapCopy | ListCopy {
    let parent: MapCopy | ListCopy = this.#item
    for (const step of steps.slice(0, -1)) {
      const value: AttributeValue | undefined = Array.isArray(parent) ? parent[Number(step)] : parent[String(step)]
      if (value?.M !== undefined) {
        const own: MapCopy = this.#owned(value.M, (map) => ({ ...map }))
        replace(parent, step, { M: own })
        parent = own
      } else if (value?.L !== undefined) {
        const own: ListCopy = this.#owned(value.L, (list) => [...list])
        replace(parent, step, { L: own as AttributeValue[] })
        parent = own
      } else refusePath()
    }
    return parent
  }

  #owned<Whole extends object, Copy extends object>(whole: Whole, copy: (whole: Whole) => Copy): Copy {
    if (this.#own.has(whole)) return whole as object as Copy
    const made = copy(whole)
    this.#own.add(made)
    return made
  }
}

function replace(parent: MapCopy | ListCopy, step: Step, value: AttributeValue): void {
  if (Array.isArray(parent)) parent[Number(step)] = value
  else parent[String(step)] = value
}

function refusePath(): never {
  throw validationError('The document path provided in the update expression is invalid for update')
}
