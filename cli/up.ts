/** `muster up`: the stack, up until Ctrl-C, for other `muster` commands, for a tunnel, or for a real GitHub App. */
import type { Console } from './console.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { readGitHubApp } from './github-app.ts'
import { createReporter } from './progress.ts'
import { defaultStateDirectory, modelSettings } from './settings.ts'
import { listenForInterruption } from './signals.ts'
import { type OpenStack, openStack } from './stack.ts'

export interface UpOptions {
  readonly port: number
  /** Absolute. */
  readonly state: string
  /** A file with an App's credentials; absent: the stand-in. */
  readonly githubApp?: string
  readonly githubApiUrl: string
}

/** Resolves with the exit code after a signal. */
export async function runUp(options: UpOptions, console: Console): Promise<number> {
  const { port, state, githubApp, githubApiUrl } = options
  const model = modelSettings(process.env)
  const credentials = githubApp === undefined ? undefined : readGitHubApp(githubApp)
  const reporter = createReporter(console.err, false)
  const interruption = listenForInterruption()
  const stack = await openStack(
    {
      stateDirectory: state,
      port,
      model,
      ...(credentials ? { github: { apiUrl: githubApiUrl, credentials } } : {}),
      isShared: true,
    },
    reporter,
  )
  try {
    await console.print(description(stack, options, model?.model, console))
    await interruption.happened
    reporter.note('Stopping. Unfinished reviews continue at the next start.')
  } finally {
    await stack.close()
  }
  return interruption.exitCode() === EXIT_CODES.terminated.code ? EXIT_CODES.terminated.code : EXIT_CODES.pass.code
}

function description({ stack }: OpenStack, options: UpOptions, model: string | undefined, { out }: Console): string {
  const { bold, dim } = out.colors
  const facts = [
    ['Webhook', stack.webhookUrl],
    ['API', stack.apiUrl],
    ['Pages', stack.github?.url ?? `on ${options.githubApiUrl}`],
    ['Step Functions', stack.endpoints.AWS_ENDPOINT_URL_SFN ?? ''],
    ['Model', model ?? 'none (set MUSTER_MODEL and MUSTER_MODEL_URL)'],
    ['State', options.state],
  ] as const
  const table = facts.map(([name, value]) => `  ${name.padEnd(14)} ${value}`).join('\n')
  const local = `${bold('Review a change of any local repository')}, from another terminal:

  muster review --repo DIR --base main --head my-branch${options.state === defaultStateDirectory ? '' : ` --state ${options.state}`}
`
  const path = new URL(stack.webhookUrl).pathname
  const app = `${bold('Connect a GitHub App:')}

  1. Make a tunnel from the internet to ${stack.apiUrl}, for this path alone: ${path},
     because the rest of the API reads reviews and halts the fleet without credentials.
  2. Create a GitHub App (Settings, Developer settings, GitHub Apps):
       webhook URL   https://<your tunnel>${path}
       secret        a long random text
       permissions   pull requests: read and write; checks: read and write; issues: read and write;
                     contents: read; metadata: read
       events        pull request, issue comment
  3. Write the App's id, key and secret to a file that only you can read, and start Muster with the file:
       {"appId": 123, "privateKeyFile": "app.pem", "webhookSecrets": ["…"]}
       muster up --github-app app.json
  4. Install the App on a repository, and open a pull request there.
`
  return `
${bold('Muster is up.')}

${table}

${stack.github ? `${local}\n` : ''}${app}
${dim('Executions: aws stepfunctions list-executions --endpoint-url <the endpoint of Step Functions>. Ctrl-C stops the stack.')}
`
}
