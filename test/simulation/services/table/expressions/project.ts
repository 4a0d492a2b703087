/** The parts of an item at the given paths, in the item's own shape; lists are closed up. */
import type { Attributes, AttributeValue } from '../values.ts'
import { type Scope, stepsOf, valueAt } from './scope.ts'
import type { Path } from './syntax.ts'

type Step = string | number
type Branch = Map<Step, Branch | AttributeValue>

export function project(item: Attributes, paths: readonly Path[], scope: Scope): Attributes {
  const root: Branch = new Map()
  for (const path of paths) {
    const value = valueAt(item, path, scope)
    if (value !== undefined) plant(root, stepsOf(path, scope), value)
  }
  return mapOf(root)
}

function plant(root: Branch, steps: readonly Step[], value: AttributeValue): void {
  let branch = root
  for (const step of steps.slice(0, -1)) {
    const next = branch.get(step)
    const inner: Branch = next instanceof Map ? next : new Map()
    branch.set(step, inner)
    branch = inner
  }
  const last = steps.at(-1)
  if (last !== undefined) branch.set(last, value)
}

function mapOf(branch: Branch): Attributes {
  return Object.fromEntries([...branch].map(([step, part]) => [step, shapeOf(part)]))
}

function shapeOf(part: Branch | AttributeValue): AttributeValue {
  if (!(part instanceof Map)) return part
  const steps = [...part]
  if (steps.some(([step]) => typeof step === 'string')) return { M: mapOf(part) }
  return { L: steps.sort(([a], [b]) => Number(a) - Number(b)).map(([, inner]) => shapeOf(inner)) }
}
