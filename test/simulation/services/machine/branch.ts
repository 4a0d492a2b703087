/** One line of control through the states of a level: the whole machine, or one item of a Map. */
import { StatesError } from '../../../../infra/local/stepfunctions/errors.ts'
import type { Outcome } from '../../../../infra/local/stepfunctions/journal.ts'
import { Attempt } from './attempt.ts'
import { jsonWithin } from './data.ts'
import { type Failure, failureOf, matches, Retries } from './failures.ts'
import { Iterations } from './iterations.ts'
import type { Level, LongState, ProgramState, WaitState } from './program.ts'
import type { Run, Wait } from './run.ts'

export type BranchEnd = { readonly output: unknown } | Failure

/** The result of a state that takes no time. */
interface Step {
  readonly data: unknown
  readonly next: string | undefined
}

export class Branch {
  readonly #run: Run
  readonly #level: Level
  readonly #done: (end: BranchEnd) => void
  #state: string | undefined
  #wait: Wait | undefined
  #isOver = false

  /** Calls `done` once, unless the branch is stopped before. */
  constructor(run: Run, level: Level, done: (end: BranchEnd) => void) {
    this.#run = run
    this.#level = level
    this.#done = done
  }

  start(input: unknown): void {
    this.#go({ data: input, next: this.#level.start })
  }

  stop(): void {
    this.#isOver = true
    this.#wait?.stop()
  }

  current(): string[] {
    if (this.#state === undefined) return []
    return [this.#state, ...(this.#wait instanceof Iterations ? this.#wait.current() : [])]
  }

  /** Goes from state to state until a state takes time or the branch ends. */
  #go(from: Step): void {
    let step: Step | undefined = from
    while (step.next !== undefined) {
      const state = this.#level.states.get(step.next)
      if (!state) throw new Error(`Expected a state, got the name ${step.next}`)
      this.#state = state.name
      this.#run.enter(state)
      if (this.#isOver) return
      if (state.type === 'Task' || state.type === 'Map') {
        this.#attempt(state, step.data, new Retries(state.retriers))
        return
      }
      if (state.type === 'Wait') {
        this.#rest(state, step.data)
        return
      }
      try {
        step = this.#pass(state, step.data)
      } catch (error) {
        this.#finish(failureOf(error))
        return
      }
      if (!step) return
      this.#run.exit(state)
      if (this.#isOver) return
    }
    this.#finish({ output: step.data })
  }

  #pass(state: Exclude<ProgramState, LongState | WaitState>, data: unknown): Step | undefined {
    switch (state.type) {
      case 'Pass':
        return { data: state.merge(data, state.result({ data, context: this.#run.context })), next: state.next }
      case 'Choice': {
        const next = state.rules.find(({ holds }) => holds(data))?.next ?? state.otherwise
        if (next !== undefined) return { data, next }
        throw new StatesError('States.NoChoiceMatched', `No rule of ${state.name} holds, and it has no Default`)
      }
      case 'Succeed':
        return { data, next: undefined }
      case 'Fail':
        this.#finish({ error: state.error, cause: state.cause })
        return undefined
    }
  }

  #attempt(state: LongState, input: unknown, retries: Retries): void {
    const done = (outcome: Outcome): void => {
      // The record of this outcome may have been the last event of the execution.
      if (this.#isOver) return
      if ('error' in outcome) this.#recover(state, input, retries, outcome)
      else this.#leave(state, input, retries, outcome.output)
    }
    const wait =
      state.type === 'Task' ? new Attempt(this.#run, state, input, done) : new Iterations(this.#run, state, input, done)
    this.#wait = wait
    try {
      wait.start()
    } catch (error) {
      wait.stop()
      this.#recover(state, input, retries, failureOf(error))
    }
  }

  #leave(state: LongState, input: unknown, retries: Retries, output: string): void {
    let data: unknown
    try {
      const result: unknown = JSON.parse(output)
      const selected = state.select ? state.select({ data: result, context: this.#run.context }) : result
      data = state.merge(input, selected)
      jsonWithin(data, 'The output')
    } catch (error) {
      this.#recover(state, input, retries, failureOf(error))
      return
    }
    this.#moveOn(state, { data, next: state.next })
  }

  /** Continues after a failure: another try, a catcher, or the end of the branch. */
  #recover(state: LongState, input: unknown, retries: Retries, failure: Failure): void {
    const { world } = this.#run
    const delayMs = retries.delayMs(failure.error, () => world.random())
    if (delayMs !== undefined) {
      this.#run.retry(state, world.now() + delayMs)
      this.#wait = { stop: world.after(delayMs, () => this.#attempt(state, input, retries)) }
      return
    }
    const catcher = state.catchers.find(({ errors }) => matches(errors, failure.error))
    if (!catcher) {
      this.#finish(failure)
      return
    }
    let data: unknown
    try {
      data = catcher.merge(input, { Error: failure.error, Cause: failure.cause })
    } catch (error) {
      this.#finish(failureOf(error))
      return
    }
    this.#moveOn(state, { data, next: catcher.next })
  }

  #rest(state: WaitState, data: unknown): void {
    this.#wait = { stop: this.#run.world.after(state.ms, () => this.#moveOn(state, { data, next: state.next })) }
  }

  #moveOn(state: LongState | WaitState, step: Step): void {
    this.#wait = undefined
    this.#run.exit(state)
    if (!this.#isOver) this.#go(step)
  }

  #finish(end: BranchEnd): void {
    this.#isOver = true
    this.#wait = undefined
    this.#done(end)
  }
}
