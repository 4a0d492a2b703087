/** `muster review`: reviews a change of a local repository, on the running stack or on a stack of its own. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Console } from './console.ts'
import { CommandFailure } from './errors.ts'
import { exitCodeOf } from './exit-codes.ts'
import { verdictLine, visibleLine } from './format.ts'
import { readChange } from './git.ts'
import { createReporter, type Reporter } from './progress.ts'
import type { Reviewer, ReviewOutcome, ReviewRequest } from './request.ts'
import { findRunningStack } from './running-stack.ts'
import { sarifOf } from './sarif.ts'
import { MODEL_VARIABLES, modelSettings, musterVersion } from './settings.ts'
import { listenForInterruption } from './signals.ts'
import { openStack } from './stack.ts'
import { renderMarkdown } from './terminal-markdown.ts'

export interface ReviewOptions {
  readonly repo: string
  readonly base: string
  readonly head: string
  /** Absolute. */
  readonly state: string
  /** Absent: a new head begins a series. */
  readonly thread?: boolean
  readonly title?: string
  readonly bodyFile?: string
  readonly format: 'markdown' | 'json' | 'sarif'
  readonly quiet?: boolean
}

/** Resolves with the exit code. */
export async function runReview(options: ReviewOptions, console: Console): Promise<number> {
  const reporter = createReporter(console.err, options.quiet ?? false)
  const interruption = listenForInterruption()
  try {
    const request = await requestOf(options)
    const outcome = await withReviewer(options.state, reporter, (reviewer) =>
      reviewer(request, (progress) => reporter.onProgress(progress), interruption.signal),
    )
    reporter.end()
    reportOutcome(outcome, reporter, console)
    await console.print(resultText(outcome, request, options.format, console))
    return exitCodeOf(outcome.conclusion.verdict)
  } catch (error) {
    reporter.end()
    const exitCode = interruption.exitCode()
    if (exitCode === undefined) throw error
    reporter.note('Interrupted. Nothing is lost: the next call for this head continues the review.')
    return exitCode
  }
}

async function requestOf(options: ReviewOptions): Promise<ReviewRequest> {
  const change = await readChange(options.repo, options.base, options.head)
  const { gitDirectory, repository, base, head, author } = change
  const { title = change.subject, bodyFile, thread = false } = options
  const body = bodyFile === undefined ? change.body : textOf(bodyFile)
  return { repository, gitDirectory, base, head, title, body, author, thread, askAgain: false }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(path.resolve(file), 'utf8') || null
  } catch (error) {
    throw new CommandFailure(
      'body_file_unreadable',
      `--body-file ${file} can't be read.`,
      'Name a text file that exists, or omit the option.',
      'usage',
      { cause: error },
    )
  }
}

/** Lends the reviewer of the running stack, or of a stack that lives as long as `work`. */
async function withReviewer<T>(
  state: string,
  reporter: Reporter,
  work: (reviewer: Reviewer) => Promise<T>,
): Promise<T> {
  const model = modelSettings(process.env)
  const running = await findRunningStack(state)
  if (running) {
    const { pid, reviewsLocally, model: itsModel } = running.status
    if (!reviewsLocally) {
      throw new CommandFailure(
        'stack_serves_github',
        `The stack on this state (process ${pid}) serves a real GitHub and reviews no local repositories.`,
        'Choose another --state.',
        'unavailable',
      )
    }
    reporter.note(`Using the running stack (process ${pid}).`)
    if (model && model.model !== itsModel) {
      reporter.note(
        `The model of that stack is ${itsModel ?? 'none'}: ${MODEL_VARIABLES.model} takes effect only where a stack starts.`,
      )
    }
    return work(running.reviewer)
  }
  const stack = await openStack({ stateDirectory: state, port: 0, model, isShared: false }, reporter)
  try {
    if (!stack.reviewer) throw new Error('A stack without a GitHub of its own can review nothing local.')
    return await work(stack.reviewer)
  } finally {
    await stack.close()
  }
}

/** The summary for a person, and the reasons for a log. */
function reportOutcome({ alreadyReviewed, conclusion }: ReviewOutcome, reporter: Reporter, { err }: Console): void {
  if (alreadyReviewed) reporter.note(`${conclusion.head.slice(0, 7)} is already reviewed; nothing was posted.`)
  const { bold, red, yellow, green } = err.colors
  const paint = { pass: green, concerns: yellow, changes_requested: red, incomplete: yellow }[conclusion.verdict]
  reporter.note(bold(paint(verdictLine(conclusion))))
  for (const reason of conclusion.incompleteReasons) reporter.note(`muster: incomplete: ${visibleLine(reason)}`)
  if (conclusion.incompleteReasons.some((reason) => reason.includes('model_not_configured'))) {
    const { model, url, key } = MODEL_VARIABLES
    reporter.note(`${model} and ${url} configure a model, ${key} adds a key.`)
  }
}

function resultText(
  outcome: ReviewOutcome,
  request: ReviewRequest,
  format: ReviewOptions['format'],
  { out }: Console,
): string {
  switch (format) {
    case 'json':
      return JSON.stringify(outcome.conclusion, undefined, 2)
    case 'sarif':
      return JSON.stringify(
        sarifOf(outcome.conclusion, pathToFileURL(request.gitDirectory).href, musterVersion()),
        undefined,
        2,
      )
    case 'markdown':
      return out.isLive ? `\n${renderMarkdown(outcome.markdown, out)}\n` : outcome.markdown
  }
}
