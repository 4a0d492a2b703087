/**
 * Progress on stderr: on a terminal one line for each lens, written over; elsewhere a line for each change. The result
 * goes to stdout, apart from the progress.
 */

import { counted, duration, visibleLine } from './format.ts'
import { LiveLines } from './live-lines.ts'
import type { Progress, PullRequestChange } from './request.ts'
import type { LensProgress } from './run-view.ts'
import type { Terminal } from './terminal.ts'

export interface Reporter {
  /** Does one step. A step longer than a second is reported while it goes on, with its duration at the end. */
  step<T>(text: string, work: () => Promise<T>): Promise<T>
  /** Prints a lasting line. */
  note(text: string): void
  /** Takes the progress of a review. */
  onProgress(progress: Progress): void
  /** Ends live lines, after success and failure alike. Repeatable. */
  end(): void
}

/** The duration of a noticeable step, ms. */
const NOTICEABLE_MS = 1_000
/** The interval between drawings of live lines, ms. */
const DRAW_EVERY_MS = 100
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

const CHANGES: Readonly<Record<PullRequestChange, string>> = {
  opened: 'opened',
  pushed: 'pushed to',
  retargeted: 'retargeted',
  edited: 'edited',
  asked_again: 'delivered again',
  none: 'unchanged',
}

/** A reporter for the terminal; a quiet reporter prints nothing. */
export function createReporter(terminal: Terminal, isQuiet: boolean): Reporter {
  if (isQuiet) return { step: (_text, work) => work(), note() {}, onProgress() {}, end() {} }
  return terminal.isLive ? new LiveReporter(terminal) : plainReporter(terminal)
}

function plainReporter({ stream }: Terminal): Reporter {
  const write = (text: string) => void stream.write(`${text}\n`)
  let phase = ''
  const states = new Map<string, string>()
  return {
    async step(text, work) {
      const startedAt = performance.now()
      const timer = setTimeout(() => write(`${text} …`), NOTICEABLE_MS)
      try {
        return await work()
      } finally {
        clearTimeout(timer)
        const took = performance.now() - startedAt
        if (took > NOTICEABLE_MS) write(`${text}: ${duration(took)}`)
      }
    },
    note: write,
    onProgress(progress) {
      if (progress.kind === 'pull_request') {
        write(changeOf(progress))
        return
      }
      const next = phaseOf(progress)
      if (next !== phase && progress.state !== 'ended') write(`  ${next}`)
      phase = next
      for (const lens of progress.lenses) {
        const state = stateOf(lens)
        if (states.get(lens.lens) !== state) write(`  ${nameOf(lens).padEnd(NAME_WIDTH)} ${state}`)
        states.set(lens.lens, state)
      }
    },
    end() {},
  }
}

class LiveReporter implements Reporter {
  readonly #terminal: Terminal
  readonly #live: LiveLines
  #lines: (spinner: string) => string[] = () => []
  #timer: NodeJS.Timeout | undefined
  #frame = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#live = new LiveLines(terminal)
  }

  async step<T>(text: string, work: () => Promise<T>): Promise<T> {
    const { colors } = this.#terminal
    const startedAt = performance.now()
    const took = () => performance.now() - startedAt
    const line = () => `${text} ${colors.dim(duration(took()))}`
    this.#animate((spinner) => (took() < NOTICEABLE_MS ? [] : [`${colors.cyan(spinner)} ${line()}`]))
    try {
      const result = await work()
      this.#settle(took() < NOTICEABLE_MS ? [] : [`${colors.green('✔')} ${line()}`])
      return result
    } catch (error) {
      this.#settle([])
      throw error
    }
  }

  note(text: string): void {
    this.#live.clear()
    this.#terminal.stream.write(`${text}\n`)
    this.#draw()
  }

  onProgress(progress: Progress): void {
    if (progress.kind === 'pull_request') {
      this.note(changeOf(progress))
      return
    }
    const lines = (spinner: string) => [
      ...progress.lenses.map((lens) => this.#lensLine(lens, spinner)),
      ...(progress.state === 'ended' ? [] : [this.#terminal.colors.dim(`${spinner} ${phaseOf(progress)}`)]),
    ]
    if (progress.state === 'ended') this.#settle(lines(' '))
    else this.#animate(lines)
  }

  end(): void {
    this.#settle(this.#lines(' '))
  }

  #lensLine(lens: LensProgress, spinner: string): string {
    const { colors } = this.#terminal
    const marks = {
      waiting: colors.dim('·'),
      reading: colors.cyan(spinner),
      read: colors.green('✔'),
      failed: colors.red('✖'),
    }
    const state = stateOf(lens)
    const paint = lens.state === 'failed' ? colors.red : lens.findings > 0 ? colors.yellow : colors.dim
    return `${marks[lens.state]} ${nameOf(lens).padEnd(NAME_WIDTH)} ${paint(state)}`
  }

  #animate(lines: (spinner: string) => string[]): void {
    this.#lines = lines
    this.#draw()
    this.#timer ??= setInterval(() => {
      this.#frame += 1
      this.#draw()
    }, DRAW_EVERY_MS)
  }

  #settle(lines: readonly string[]): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#lines = () => []
    this.#live.show(lines)
    this.#live.keep()
  }

  #draw(): void {
    this.#live.show(this.#lines(SPINNER[this.#frame % SPINNER.length] ?? ''))
  }
}

/** The length of the longest name, "second reading". */
const NAME_WIDTH = 14

function nameOf({ lens }: LensProgress): string {
  return lens === 'adjudication' ? 'second reading' : lens
}

function stateOf({ lens, state, parts, partsDone, findings, reason }: LensProgress): string {
  const part = parts > 1 ? ` (${partsDone} of ${parts} parts)` : ''
  switch (state) {
    case 'waiting':
      return 'waiting for a slot'
    case 'reading':
      return `reading${part}`
    case 'read':
      if (lens === 'adjudication') return 'done'
      return findings === 0 ? 'no findings' : counted(findings, 'finding')
    case 'failed':
      return visibleLine(`failed${part}${reason ? `: ${reason}` : ''}`)
  }
}

function phaseOf({ state, lenses, reason }: Extract<Progress, { kind: 'run' }>): string {
  switch (state) {
    case 'accepted':
      return 'accepted'
    case 'running':
      return lenses.length === 0 ? 'planning' : 'reviewing'
    case 'concluded':
      return 'concluded; posting'
    case 'held':
      return visibleLine(`held: ${reason?.sentence ?? 'a halt stands.'}`)
    case 'ending':
      return 'ending'
    case 'ended':
      return 'ended'
  }
}

function changeOf({ name, url, change }: Extract<Progress, { kind: 'pull_request' }>): string {
  return `Pull request ${name} ${CHANGES[change]}: ${url}`
}
