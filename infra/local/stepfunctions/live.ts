/** What the process keeps in memory of an execution while it runs: read from its journal, and kept up with it. */
import type { Line, Outcome, StartedFact } from './journal.ts'

/** One try of a task. Those of the journal wait here until the replay comes to them. */
export interface Attempt {
  readonly task: string
  readonly token: string | undefined
  /** Ms since the epoch. */
  readonly deadline: number
  submitted: boolean
  outcome?: Outcome
  /** Ms since the epoch: when the next attempt is due. */
  retryAt?: number
  /** Told of the outcome, once the replay has come here. */
  settle?: (outcome: Outcome) => void
}

export interface Live {
  readonly started: StartedFact
  readonly startedAt: number
  /** By task, until the task's result is with the engine. */
  readonly attempts: Map<string, Attempt[]>
  /** Until when each Wait state lasts, ms since the epoch, by what `task` is for a task. */
  readonly waits: Map<string, number>
  /** Attempts whose token can still be answered, by token. */
  readonly open: Map<string, Attempt>
  /** How often each pair of a state and a payload came so far. */
  readonly occurrences: Map<string, number>
  /** Events of the journal that the replay will repeat, and how often. */
  readonly repeated: Map<string, number>
  /** Lines in the journal. */
  lines: number
  transitions: number
  /** End all that waits, once the execution is over or the process closes. */
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

/** Takes in what was just appended. */
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

/** Whether the replay only repeats this event, which the journal already has. Counts it off. */
export function isRepeated(live: Live, line: Parameters<typeof eventKey>[0]): boolean {
  const key = eventKey(line)
  const left = key === undefined ? 0 : (live.repeated.get(key) ?? 0)
  if (key === undefined || left === 0) return false
  if (left === 1) live.repeated.delete(key)
  else live.repeated.set(key, left - 1)
  return true
}

/** Iterations run side by side, so events come in another order at the next replay, but as many of each. */
function eventKey(line: { kind: string; state?: string; change?: string; index?: number }): string | undefined {
  if (line.kind === 'entered' || line.kind === 'exited') return `${line.kind} ${line.state}`
  if (line.kind === 'iteration') return `${line.change} ${line.index} ${line.state}`
  return undefined
}

/** The attempts of one task follow each other, so whatever is said of it is about the last one. */
function lastAttempt(live: Live, task: string): Attempt | undefined {
  return live.attempts.get(task)?.at(-1)
}
