/** The commands and their options, as commander knows them. A call loads the code of its command only. */
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { createCommand, finish, portOption, stateOption } from './command.ts'
import { exitCodeTable } from './exit-codes.ts'
import { addOperating } from './program-operations.ts'
import { MODEL_VARIABLES, musterVersion } from './settings.ts'

const PORT_DEFAULT = 4600
const GITHUB_API_URL = 'https://api.github.com'

export function createProgram(): Command {
  const program = createCommand('muster')
    .description('Reviews pull requests with a fleet of independent reviewers, on this machine.')
    .version(musterVersion(), '-V, --version', 'show the version')
    // An option belongs to the command before it, so that subcommands may have the same options.
    .enablePositionalOptions()
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', `\nExit codes:\n${exitCodeTable()}\n\nmuster <command> --help has examples.`)
  addReview(program)
  addUp(program)
  addOperating(program)
  return program
}

function addReview(program: Command): void {
  const { model, url, key } = MODEL_VARIABLES
  program
    .command('review')
    .usage('--base <ref> [options]')
    .description('review a change of a local git repository, without a write into the repository')
    .requiredOption('--base <ref>', 'the target of the change: a branch, a tag or a SHA')
    .option('--head <ref>', 'the tip of the change', 'HEAD')
    .option('--repo <dir>', 'a clone, a folder inside a clone, a worktree or a bare repository', '.')
    .addOption(stateOption())
    .option('--thread', 'continue the series of the last review, with its rounds')
    .option('--title <text>', "the pull request's title (default: subject of the head's commit)")
    .option('--body-file <file>', "the pull request's description (default: body of the head's commit)")
    .addOption(new Option('--json', 'print the conclusion as JSON').conflicts('sarif'))
    .addOption(new Option('--sarif', 'print the findings as SARIF 2.1.0'))
    .option('-q, --quiet', 'print no progress on stderr')
    .addHelpText(
      'after',
      `
The review goes to stdout as Markdown, and progress to stderr. A stack that "muster up" runs on the same state serves
the review; without such a stack the command starts one for the length of the review. A second call for a reviewed
head prints the stored review.

The environment of the process that runs the stack configures a model:
  ${model}      the model's name
  ${url}  an OpenAI-compatible endpoint
  ${key}  the endpoint's key, if the endpoint needs one

Examples:
  $ muster review --base main
  $ muster review --repo ~/src/widgets --base origin/main --head fix-parser --thread
  $ muster review --repo ~/src/widgets.git --base HEAD^1 --head HEAD^2 --sarif > muster.sarif

Exit codes:
${exitCodeTable()}`,
    )
    .action(async (options: ReviewFlags) => {
      const state = path.resolve(options.state)
      await finish(state, async (console) => {
        const { runReview } = await import('./review.ts')
        const format = options.json ? 'json' : options.sarif ? 'sarif' : 'markdown'
        return runReview({ ...options, state, format }, console)
      })
    })
}

interface ReviewFlags {
  readonly base: string
  readonly head: string
  readonly repo: string
  readonly state: string
  readonly thread?: boolean
  readonly title?: string
  readonly bodyFile?: string
  readonly json?: boolean
  readonly sarif?: boolean
  readonly quiet?: boolean
}

function addUp(program: Command): void {
  program
    .command('up')
    .description('run the whole stack on this machine until Ctrl-C')
    .addOption(portOption(PORT_DEFAULT))
    .addOption(stateOption())
    .option('--github-app <file>', 'serve a real GitHub as this App: JSON with appId, privateKeyFile, webhookSecrets')
    .option('--github-api-url <url>', 'the API of the real GitHub', httpUrl, GITHUB_API_URL)
    .addHelpText(
      'after',
      `
Without --github-app a stand-in of GitHub serves local repositories to "muster review".

Examples:
  $ muster up
  $ muster up --port 0 --state /tmp/muster
  $ muster up --github-app app.json --github-api-url https://github.example.com/api/v3`,
    )
    .action(async (options: UpFlags) => {
      const state = path.resolve(options.state)
      await finish(state, async (console) => {
        const { runUp } = await import('./up.ts')
        return runUp({ ...options, state }, console)
      })
    })
}

interface UpFlags {
  readonly port: number
  readonly state: string
  readonly githubApp?: string
  readonly githubApiUrl: string
}

function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError('The address must begin with http:// or https://.')
  }
  return text.replace(/\/+$/, '')
}
