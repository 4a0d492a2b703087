/** A running execution in memory: read from its journal, and updated with each line. */
import type { Line, Outcome, StartedFact } from './journal.ts'

/** One try of a task. The tries in the journal wait here for the replay. */
export interface Attempt {
  readonly task: string
  readonly token: string | undefined
  /** Ms since the epoch. */
  readonly deadline: number
  submitted: boolean
  outcome?: Outcome
  /** Ms since the epoch: when the next attempt is due. */
  retryAt?: number
  /** Gets the outcome, once the replay has come here. */
  settle?: (outcome: Outcome) => void
}

export interface Live {
  readonly started: StartedFact
  readonly startedAt: number
  /** By task, until the task's result is with the engine. */
  readonly attempts: Map<string, Attempt[]>
  /** The end of each Wait state, ms since the epoch, by the key that `task` is for a task. */
  readonly waits: Map<string, number>
  /** Attempts whose token can still be answered, by token. */
  readonly open: Map<string, Attempt>
  /** The number of occurrences of each pair of a state and a payload until now. */
  readonly occurrences: Map<string, number>
  /** Events of the journal that the replay will repeat, with their numbers. */
  readonly repeated: Map<string, number>
  /** Lines in the journal. */
  lines: number
  transitions: number
  /** Each ends a wait, once the execution is over or the process closes. */
  readonly stops: Set<() => void>
  /** Ends the engine's run. */
  abort?: () => void
  running: boolean
  over: boolean
}

/** The state of an execution whose journal is `lines`. */
export function liveFrom(lines: readonly Line[], started: StartedFact): Live {
  const live: Live = {
    started,
    startedAt: lines[0]?.at ?? 0,
    attempts: new Map(),
    waits: new Map(),
    open: new Map(),
    occurrences: new Map(),
    repeated: new Map(),
    lines: 0,
    transitions: 0,
    stops: new Set(),
    running: false,
    over: false,
  }
  for (const line of lines) {
    note(live, line)
    const event = eventKey(line)
    if (event) live.repeated.set(event, (live.repeated.get(event) ?? 0) + 1)
  }
  return live
}

/** Takes in an appended line. */
export function note(live: Live, line: Line): void {
  live.lines += 1
  switch (line.kind) {
    case 'entered':
      live.transitions += 1
      return
    case 'attempt': {
      const { task, token, deadline } = line
      const attempt: Attempt = { task, token, deadline, submitted: false }
      const attempts = live.attempts.get(task)
      if (attempts) attempts.push(attempt)
      else live.attempts.set(task, [attempt])
      if (token !== undefined) live.open.set(token, attempt)
      return
    }
    case 'submitted': {
      const attempt = lastAttempt(live, line.task)
      if (attempt) attempt.submitted = true
      return
    }
    case 'outcome': {
      const attempt = lastAttempt(live, line.task)
      if (!attempt) return
      attempt.outcome = 'output' in line ? { output: line.output } : { error: line.error, cause: line.cause }
      if (attempt.token !== undefined) live.open.delete(attempt.token)
      return
    }
    case 'retry': {
      const attempt = lastAttempt(live, line.task)
      if (attempt) attempt.retryAt = line.until
      return
    }
    case 'wait':
      live.waits.set(line.wait, line.until)
      return
  }
}

/** Whether the replay only repeats this event from the journal. Counts the event off. */
export function isRepeated(live: Live, line: Parameters<typeof eventKey>[0]): boolean {
  const key = eventKey(line)
  const left = key === undefined ? 0 : (live.repeated.get(key) ?? 0)
  if (key === undefined || left === 0) return false
  if (left === 1) live.repeated.delete(key)
  else live.repeated.set(key, left - 1)
  return true
}

/** Iterations run side by side, so the next replay brings events in another order, but as many of each. */
function eventKey(line: { kind: string; state?: string; change?: string; index?: number }): string | undefined {
  if (line.kind === 'entered' || line.kind === 'exited') return `${line.kind} ${line.state}`
  if (line.kind === 'iteration') return `${line.change} ${line.index} ${line.state}`
  return undefined
}

/** The attempts of one task follow each other: each fact about the task is about the last attempt. */
function lastAttempt(live: Live, task: string): Attempt | undefined {
  return live.attempts.get(task)?.at(-1)
}
