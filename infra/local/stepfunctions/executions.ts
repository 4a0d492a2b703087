/**
 * All executions: a small index of every execution in memory and in `index.jsonl`, and the progress of running
 * executions. The journals decide; the open of the store brings the index in line with the journals.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { appendLine, type End, type EndStatus, type Fact, type Line, readLines, type StartedFact } from './journal.ts'
import { type Live, liveFrom, note } from './live.ts'

export interface Execution {
  /** First half of the SHA-256 of the ARN, in hex: names the file, and leads from a token to its execution. */
  readonly key: string
  readonly arn: string
  readonly machineArn: string
  readonly name: string
  /** Grows with every start, also across restarts. */
  readonly sequence: number
  readonly startedAt: number
  status: 'RUNNING' | EndStatus
  stoppedAt?: number
  /** States entered; stored here once the execution has ended. */
  transitions: number
  /** Only of a running execution. */
  live?: Live
}

type IndexLine =
  | { readonly key: string; readonly arn: string; readonly at: number }
  | { readonly key: string; readonly status: EndStatus; readonly at: number; readonly transitions: number }

/** AWS forgets a closed execution, and frees its name, after 90 days: the Step Functions API reference, StartExecution. */
const retentionMs = 90 * 24 * 60 * 60 * 1000

export class Executions {
  readonly #directory: string
  readonly #now: () => number
  /** In the order of their starts. */
  readonly #byKey = new Map<string, Execution>()
  #sequence = 0

  /** Reads the index and the journals of running executions. One process at a time may have `directory` open. */
  constructor(directory: string, now: () => number) {
    this.#directory = directory
    this.#now = now
    mkdirSync(join(directory, 'definitions'), { recursive: true })
    this.#readIndex()
    for (const execution of this.#byKey.values()) if (execution.status === 'RUNNING') this.#readRunning(execution)
    this.#forgetOld()
    this.#writeIndex()
    this.#forgetDefinitions()
  }

  get(arn: string): Execution | undefined {
    return this.#byKey.get(keyOf(arn))
  }

  /** The execution of a task token from this service. */
  byToken(token: string): Execution | undefined {
    return this.#byKey.get(token.slice(0, token.indexOf('.')))
  }

  running(): Execution[] {
    return [...this.#byKey.values()].filter((execution) => execution.live !== undefined)
  }

  /** Newest first, at most `limit`, only executions with a sequence number below `before`. */
  list(filter: { machineArn: string; status?: string; before: number; limit: number }): Execution[] {
    const found: Execution[] = []
    for (const execution of [...this.#byKey.values()].reverse()) {
      if (found.length === filter.limit) break
      if (execution.sequence >= filter.before || execution.machineArn !== filter.machineArn) continue
      if (filter.status === undefined || execution.status === filter.status) found.push(execution)
    }
    return found
  }

  /** Records a new execution, on disk by the return. The name must be free. */
  start(machineArn: string, name: string, input: string, definition: object): Execution {
    const arn = executionArn(machineArn, name)
    const key = keyOf(arn)
    const at = this.#now()
    const started: StartedFact = {
      kind: 'started',
      arn,
      input,
      definition: this.#keepDefinition(definition),
      placeholder: `task-token-${randomBytes(16).toString('hex')}`,
    }
    // The index first: a journal without an index line would never be found; an index line without a journal is dropped
    // at the next open.
    appendLine(this.#indexPath(), { key, arn, at } satisfies IndexLine)
    mkdirSync(dirname(this.#path(key)), { recursive: true })
    appendLine(this.#path(key), { ...started, at } satisfies Line)
    const execution = this.#add(key, arn, at)
    execution.live = liveFrom([{ ...started, at }], started)
    return execution
  }

  /**
   * Appends a fact about a running execution, on disk by the return. If the append throws, nothing else has changed.
   */
  record(execution: Execution, live: Live, fact: Fact): Line {
    const line: Line = { ...fact, at: this.#now() }
    appendLine(this.#path(execution.key), line)
    note(live, line)
    return line
  }

  /** The first end counts; later ends change nothing. */
  end(execution: Execution, end: End): void {
    const { live } = execution
    if (!live) return
    const { at } = this.record(execution, live, { kind: 'ended', ...end })
    this.#close(execution, live, end.status, at)
    const { key, transitions } = execution
    appendLine(this.#indexPath(), { key, status: end.status, at, transitions } satisfies IndexLine)
  }

  /** All records of an execution. */
  read(execution: Execution): Line[] {
    return readLines<Line>(this.#path(execution.key), { repair: false })
  }

  definition(digest: string): object {
    return JSON.parse(readFileSync(this.#definitionPath(digest), 'utf8')) as object
  }

  #readIndex(): void {
    for (const line of readLines<IndexLine>(this.#indexPath(), { repair: true })) {
      if ('arn' in line) {
        this.#add(line.key, line.arn, line.at)
        continue
      }
      const execution = this.#byKey.get(line.key)
      if (!execution) continue
      execution.status = line.status
      execution.stoppedAt = line.at
      execution.transitions = line.transitions
    }
  }

  #readRunning(execution: Execution): void {
    const lines = readLines<Line>(this.#path(execution.key), { repair: true })
    const started = lines[0]
    if (started?.kind !== 'started') {
      // The process died during the record of this start, so no caller has an answer about it.
      this.#forget(execution)
      return
    }
    const live = liveFrom(lines, started)
    execution.live = live
    const last = lines.at(-1)
    if (last?.kind === 'ended') this.#close(execution, live, last.status, last.at)
  }

  #close(execution: Execution, live: Live, status: EndStatus, at: number): void {
    execution.status = status
    execution.stoppedAt = at
    execution.transitions = live.transitions
    delete execution.live
  }

  #add(key: string, arn: string, startedAt: number): Execution {
    const name = arn.slice(arn.lastIndexOf(':') + 1)
    const machineArn = arn.slice(0, -name.length - 1).replace(':execution:', ':stateMachine:')
    const sequence = this.#sequence++
    const execution: Execution = { key, arn, machineArn, name, sequence, startedAt, status: 'RUNNING', transitions: 0 }
    this.#byKey.set(key, execution)
    return execution
  }

  #forgetOld(): void {
    const oldest = this.#now() - retentionMs
    for (const execution of this.#byKey.values()) {
      if (execution.stoppedAt !== undefined && execution.stoppedAt < oldest) this.#forget(execution)
    }
  }

  #forget(execution: Execution): void {
    this.#byKey.delete(execution.key)
    rmSync(this.#path(execution.key), { force: true })
  }

  #writeIndex(): void {
    const lines: IndexLine[] = []
    for (const { key, arn, startedAt, status, stoppedAt: at = 0, transitions } of this.#byKey.values()) {
      lines.push({ key, arn, at: startedAt })
      if (status !== 'RUNNING') lines.push({ key, status, at, transitions })
    }
    writeWhole(this.#indexPath(), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }

  #keepDefinition(definition: object): string {
    const text = JSON.stringify(definition)
    const digest = createHash('sha256').update(text).digest('hex')
    const path = this.#definitionPath(digest)
    if (!existsSync(path)) writeWhole(path, text)
    return digest
  }

  #forgetDefinitions(): void {
    const used = new Set(this.running().map((execution) => `${execution.live?.started.definition}.json`))
    const folder = join(this.#directory, 'definitions')
    for (const file of readdirSync(folder)) if (!used.has(file)) rmSync(join(folder, file))
  }

  #indexPath(): string {
    return join(this.#directory, 'index.jsonl')
  }

  #definitionPath(digest: string): string {
    return join(this.#directory, 'definitions', `${digest}.json`)
  }

  #path(key: string): string {
    return join(this.#directory, 'executions', key.slice(0, 2), `${key}.jsonl`)
  }
}

export function executionArn(machineArn: string, name: string): string {
  return `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`
}

function keyOf(arn: string): string {
  return createHash('sha256').update(arn).digest('hex').slice(0, 32)
}

/** Atomic, whenever the process dies. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}
