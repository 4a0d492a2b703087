/** A parsed definition without state, shared by many executions of many worlds. */
import type { Catcher, Retrier } from './failures.ts'
import type { Merge, Read } from './paths.ts'

export interface Program {
  readonly definition: object
  readonly level: Level
}

/** The states below one StartAt: the machine's own, or a Map's. */
export interface Level {
  readonly start: string
  readonly states: ReadonlyMap<string, ProgramState>
}

export type ProgramState = TaskState | MapState | WaitState | PassState | ChoiceState | SucceedState | FailState

/** States that take time: a LongState may fail, be retried, or end through a catcher. */
export type LongState = TaskState | MapState

interface Long {
  readonly name: string
  readonly select: Read | undefined
  readonly merge: Merge
  readonly retriers: readonly Retrier[]
  readonly catchers: readonly Catcher[]
  /** Absent at the end. */
  readonly next: string | undefined
}

export interface TaskState extends Long {
  readonly type: 'Task'
  readonly functionArn: string
  readonly payload: Read
  /** True if the token's answer ends the task, rather than the function's return. */
  readonly waits: boolean
  readonly timeoutMs: number
}

export interface MapState extends Long {
  readonly type: 'Map'
  readonly items: Read
  /** Items side by side; 0 means as many as AWS allows. */
  readonly width: Read
  readonly item: Read
  readonly level: Level
}

export interface WaitState {
  readonly type: 'Wait'
  readonly name: string
  readonly ms: number
  readonly next: string | undefined
}

export interface PassState {
  readonly type: 'Pass'
  readonly name: string
  readonly result: Read
  readonly merge: Merge
  readonly next: string | undefined
}

export interface ChoiceState {
  readonly type: 'Choice'
  readonly name: string
  readonly rules: readonly { readonly holds: (data: unknown) => boolean; readonly next: string }[]
  readonly otherwise: string | undefined
}

export interface SucceedState {
  readonly type: 'Succeed'
  readonly name: string
}

export interface FailState {
  readonly type: 'Fail'
  readonly name: string
  readonly error: string
  readonly cause: string
}
