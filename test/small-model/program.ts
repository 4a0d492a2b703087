/**
 * A program is real, asynchronous code of ours that talks to the world through requests only. Programs are
 * deterministic, so a program's answers up to now determine its stand, the point that the program has reached. Programs
 * are never copied, but run again with the same answers. Each stand is computed once, however many states of the world
 * contain the stand.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Failpoint, listenAtFailpoints } from '../../shared/base/failpoints.ts'

/** A request of a program that waits for the answer. */
export interface Asked {
  readonly kind: 'table' | 'token'
  readonly request: unknown
  readonly label: string
}

export interface Answered {
  /** Equal answers have equal keys. */
  readonly key: string
  /** ms UTC, the program's own clock at the answer. */
  readonly now: number
  settle(waiting: { resolve(value: unknown): void; reject(error: unknown): void }): void
}

export interface Ports {
  ask(asked: Asked): Promise<unknown>
  now(): number
  /** The program's own nonce, the same in each run. */
  nonce(): string
}

export type Code = (ports: Ports) => Promise<string>

/** One request of a program and the key of its answer; or a passed failpoint, which has no answer. */
export interface Past {
  readonly label: string
  readonly answer?: string
}

export interface Program {
  /** Becomes the program's nonce. */
  readonly name: string
  readonly code: Code
  /**
   * The part of the past that still affects the program's next steps, where the program has forgotten the rest. Pasts
   * with an equal remembered part share one stand. Undefined: the program may remember its whole past.
   */
  readonly remembers: (past: readonly Past[], asks: string) => string | undefined
}

/** A point that a program has reached. */
export interface Stand {
  readonly id: number
  /** The oldest unanswered request; parallel requests come after it. Undefined: the program has ended. */
  readonly asks: Asked | undefined
  /** The program's result, or its error. */
  readonly ended: string | undefined
  /** True before the first answer. */
  readonly isFirst: boolean
  after(answer: Answered): Stand | Promise<Stand>
}

let stands = 0
const atWork = new AsyncLocalStorage<Run>()
listenAtFailpoints((point) => {
  atWork.getStore()?.passed.push(point)
})
/** The number of further pasts that are tried for each stand with forgotten pasts. */
const PASTS_TRIED_MAX = 2

/** The stand of a program before its first answer. */
export async function begin(program: Program, now: number): Promise<Stand> {
  const forgotten = new Map<string, { stand: Stand; also: (() => Promise<Run>)[] }>()
  const again = async () => {
    const run = running(program, now)
    await advanced()
    return run
  }
  return standOf(await again(), again, [])

  /** `again` brings a new run to the same stand; the present run already serves the first answer. */
  function standOf(run: Run, again: () => Promise<Run>, past: readonly Past[]): Stand {
    const { ended } = run
    const asks = run.waiting[0]?.asked
    if (ended === undefined && !asks) throw new Error(`${program.name} waits for something that it did not ask for`)
    const alone = run.waiting.length === 1
    const remembered = alone && asks ? program.remembers(past, asks.label) : undefined
    const same = remembered === undefined ? undefined : forgotten.get(remembered)
    if (same) {
      if (same.also.length < PASTS_TRIED_MAX) same.also.push(again)
      return same.stand
    }
    const also: (() => Promise<Run>)[] = []
    const next = new Map<string, Stand>()
    let here: Run | undefined = run
    stands += 1
    const stand: Stand = {
      id: stands,
      asks: ended === undefined ? asks : undefined,
      ended,
      isFirst: past.length === 0,
      after(answer) {
        const key = `${answer.now} ${answer.key}`
        return next.get(key) ?? goOn(key, answer)
      },
    }
    if (remembered !== undefined) forgotten.set(remembered, { stand, also })
    return stand

    async function goOn(key: string, answer: Answered): Promise<Stand> {
      const answeredFrom = async (current: Run) => {
        current.answer(answer)
        await advanced()
        return current
      }
      const goesOn = async () => answeredFrom(await again())
      const current = here ?? (await again())
      here = undefined
      const went = await answeredFrom(current)
      for (const other of also) checkSame(went, await answeredFrom(await other()))
      const then = { label: asks?.label ?? '', answer: answer.key }
      const after = standOf(went, goesOn, [...past, then, ...went.passed.map((label) => ({ label }))])
      next.set(key, after)
      return after
    }
  }

  function checkSame(one: Run, other: Run): void {
    const text = (run: Run) => `${run.ended} ${run.waiting.map(({ asked }) => asked.label)}`
    if (text(one) !== text(other)) throw new Error(`${program.name} had not forgotten: ${text(one)}, ${text(other)}`)
  }
}

interface Waiting {
  readonly asked: Asked
  resolve(value: unknown): void
  reject(error: unknown): void
}

interface Run {
  readonly waiting: Waiting[]
  /** Failpoints passed since the last answer. */
  passed: Failpoint[]
  ended: string | undefined
  answer(answer: Answered): void
}

function running({ name, code }: Program, begins: number): Run {
  let now = begins
  const run: Run = {
    waiting: [],
    passed: [],
    ended: undefined,
    answer(answer) {
      now = answer.now
      run.passed = []
      const waiting = run.waiting.shift()
      if (waiting) answer.settle(waiting)
    },
  }
  const ports: Ports = {
    ask: (asked) => new Promise((resolve, reject) => run.waiting.push({ asked, resolve, reject })),
    now: () => now,
    nonce: () => name,
  }
  atWork
    .run(run, () => code(ports))
    .then(
      (result) => {
        run.ended = result
      },
      (error: unknown) => {
        run.ended = `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
      },
    )
  return run
}

/**
 * Runs the programs as far as they can go without an answer. Waiting takes no time, as the model tries every order of
 * steps anyway.
 */
async function advanced(): Promise<void> {
  const { setTimeout } = globalThis
  globalThis.setTimeout = ((then: () => void) => queueMicrotask(then)) as unknown as typeof setTimeout
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.setTimeout = setTimeout
}
