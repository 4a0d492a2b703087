/** `npm start`: Muster's main job on real input. Starts the stack, opens a pull request of an example, shows its review. */
import path from 'node:path'
import { buildExampleRepository, type ExampleRepository } from '../infra/local/github/example.ts'
import { createCommand, finish, portOption, runProgram, stateOption } from './command.ts'
import type { Console } from './console.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { duration, verdictLine } from './format.ts'
import { createReporter, type Reporter } from './progress.ts'
import type { ReviewOutcome } from './request.ts'
import { modelSettings } from './settings.ts'
import { listenForInterruption } from './signals.ts'
import { openStack } from './stack.ts'
import { renderMarkdown } from './terminal-markdown.ts'

interface DemoOptions {
  readonly once?: boolean
  readonly port: number
  readonly state: string
}

const REPOSITORY = { owner: 'acme', name: 'parcels' }
const AUTHOR = 'ada'

/** Any free port: a first run should meet no collision. */
const PORT_DEFAULT = 0

/** The longest useful separator line, characters. */
const RULE_WIDTH_MAX = 100

const program = createCommand('npm start --')
  .description('Reviews the pull request of an example repository with the whole stack on this machine.')
  .option('--once', 'end when the review is shown')
  .addOption(portOption(PORT_DEFAULT))
  .addOption(stateOption())
  .addHelpText('after', '\nExamples:\n  $ npm start\n  $ npm start -- --once\n  $ npm start -- --state /tmp/muster')
  .action((options: DemoOptions) => {
    const state = path.resolve(options.state)
    return finish(state, (console) => runDemo({ ...options, state }, console))
  })

await runProgram(program)

async function runDemo({ once, port, state }: DemoOptions, console: Console): Promise<number> {
  const model = modelSettings(process.env)
  const reporter = createReporter(console.err, false)
  const interruption = listenForInterruption()
  const startedAt = performance.now()
  const stack = await openStack({ stateDirectory: state, port, model, isShared: true }, reporter)
  try {
    const { reviewer } = stack
    if (!reviewer) throw new Error('A stack without a GitHub of its own can review no example.')
    const example = await reporter.step('Making an example repository and its pull request', () =>
      buildExampleRepository(path.join(state, 'example')),
    )
    const { gitDirectory, base, head, title, body } = example
    const outcome = await reviewer(
      { repository: REPOSITORY, gitDirectory, base, head, title, body, author: AUTHOR, thread: true, askAgain: true },
      (progress) => reporter.onProgress(progress),
      interruption.signal,
    )
    reporter.end()
    await show(outcome, performance.now() - startedAt, reporter, console)
    if (once) return EXIT_CODES.pass.code
    await console.print(nextSteps(outcome, example, console))
    await interruption.happened
    reporter.note('Stopping.')
  } catch (error) {
    reporter.end()
    if (interruption.exitCode() === undefined) throw error
    reporter.note('Interrupted. Nothing is lost: the next npm start continues the review.')
    return interruption.exitCode() ?? EXIT_CODES.interrupted.code
  } finally {
    await stack.close()
  }
  return EXIT_CODES.pass.code
}

async function show(outcome: ReviewOutcome, tookMs: number, reporter: Reporter, console: Console): Promise<void> {
  const { conclusion, alreadyReviewed, markdown, url } = outcome
  const { bold, dim, cyan } = console.err.colors
  const width = Math.min(console.out.columns(), RULE_WIDTH_MAX)
  const rule = console.out.colors.dim('─'.repeat(width))
  const text = console.out.isLive ? renderMarkdown(markdown, console.out) : markdown
  await console.print(`\n${rule}\n${text}\n${rule}\n`)
  if (alreadyReviewed) {
    reporter.note(
      `This head, ${conclusion.head.slice(0, 7)}, was already reviewed: the webhook was delivered again, and nothing was posted.`,
    )
  }
  reporter.note(`${bold(verdictLine(conclusion))} ${dim(`· ${duration(tookMs)}`)}`)
  reporter.note(`The review on the pull request: ${cyan(url)}`)
}

function nextSteps({ url }: ReviewOutcome, { gitDirectory, nextHead }: ExampleRepository, { out }: Console): string {
  const { bold, dim } = out.colors
  return `
${bold('What to do next')}

  Look at the pull request        ${url}
  Review a branch of your own     npx muster review --repo DIR --base main --head my-branch
  Push the author's next commit   git -C ${path.dirname(gitDirectory)} merge --ff-only ${nextHead.sha.slice(0, 12)}
                                  and then Ctrl-C and npm start again
  Add a model                     MUSTER_MODEL=… MUSTER_MODEL_URL=… npm start

${dim('The stack runs until Ctrl-C.')}
`
}
