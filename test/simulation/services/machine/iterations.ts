/** The items of a Map: a branch each, side by side up to the Map's width. */
import { StatesError } from '../../../../infra/local/stepfunctions/errors.ts'
import type { Outcome } from '../../../../infra/local/stepfunctions/journal.ts'
import { Branch, type BranchEnd } from './branch.ts'
import { type Failure, failureOf } from './failures.ts'
import type { MapState } from './program.ts'
import type { Run, Wait } from './run.ts'

/** https://docs.aws.amazon.com/step-functions/latest/dg/state-map-inline.html: up to 40 iterations side by side. */
const widthMax = 40

export class Iterations implements Wait {
  readonly #run: Run
  readonly #state: MapState
  readonly #input: unknown
  readonly #done: (outcome: Outcome) => void
  readonly #running = new Set<Branch>()
  #items: readonly unknown[] = []
  #outputs: unknown[] = []
  #width = widthMax
  #begun = 0
  #isOver = false

  /** Calls `done` once, unless the Map is stopped before. */
  constructor(run: Run, state: MapState, input: unknown, done: (outcome: Outcome) => void) {
    this.#run = run
    this.#state = state
    this.#input = input
    this.#done = done
  }

  /** Throws a `StatesError` if items or width are missing. */
  start(): void {
    const scope = { data: this.#input, context: this.#run.context }
    this.#items = itemsOf(this.#state.items(scope))
    this.#width = widthOf(this.#state.width(scope))
    this.#outputs = new Array(this.#items.length)
    this.#fill()
  }

  stop(): void {
    this.#isOver = true
    for (const branch of this.#running) branch.stop()
    this.#running.clear()
  }

  current(): string[] {
    return [...this.#running].flatMap((branch) => branch.current())
  }

  #fill(): void {
    while (!this.#isOver && this.#running.size < this.#width && this.#begun < this.#items.length) {
      const index = this.#begun
      this.#begun += 1
      try {
        this.#begin(index)
      } catch (error) {
        this.#fail(failureOf(error))
      }
    }
    if (this.#isOver || this.#running.size > 0) return
    this.#isOver = true
    this.#done({ output: JSON.stringify(this.#outputs) })
  }

  #begin(index: number): void {
    const { context } = this.#run
    const item = { Index: index, Value: this.#items[index] }
    const input = this.#state.item({ data: this.#input, context: { ...context, Map: { Item: item } } })
    const branch = new Branch(this.#run, this.#state.level, (end) => this.#ended(index, branch, end))
    this.#running.add(branch)
    this.#record('MapIterationStarted', index)
    branch.start(input)
  }

  #ended(index: number, branch: Branch, end: BranchEnd): void {
    this.#running.delete(branch)
    const isFailed = 'error' in end
    this.#record(isFailed ? 'MapIterationFailed' : 'MapIterationSucceeded', index)
    if (this.#isOver) return
    if (isFailed) {
      this.#fail(end)
      return
    }
    this.#outputs[index] = end.output
    this.#fill()
  }

  /** The first failed iteration ends all iterations. */
  #fail(failure: Failure): void {
    this.stop()
    this.#done(failure)
  }

  #record(change: string, index: number): void {
    this.#run.record({ kind: 'iteration', change, state: this.#state.name, index })
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new StatesError('States.Runtime', 'ItemsPath must point to an array')
}

function widthOf(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0) return Math.min((value as number) || widthMax, widthMax)
  throw new StatesError('States.Runtime', 'MaxConcurrencyPath must point to a whole number that is not negative')
}
