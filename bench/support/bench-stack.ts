/** A stack in this process for a bench: its own state, and reviews of pull requests to the end. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GitHubStandIn } from '../../infra/local/github/github.ts'
import { type LocalStack, startLocalStack } from '../../infra/local/stack.ts'
import { causeOf, executionNameOf, runIdOf } from '../../shared/runs/run-identity.ts'
import type { Workspace } from '../measurement.ts'
import { type ModelStandIn, startModel } from './model.ts'

export interface Change {
  /** `owner/name`, a different one for each run. */
  readonly repository: string
  readonly gitDirectory: string
  readonly base: { readonly ref: string; readonly sha: string }
  readonly head: { readonly ref: string; readonly sha: string }
  readonly title: string
  readonly body: string
}

export interface ReviewedRun {
  readonly runId: string
  readonly executionArn: string
  /** As in the API's answer. */
  readonly verdict: string
  readonly reviews: readonly { readonly lens: string; readonly part: number }[]
}

export interface BenchStack {
  readonly local: LocalStack
  readonly github: GitHubStandIn
  readonly webhookSecret: string
  /** Undefined without a model. */
  readonly model: ModelStandIn | undefined
  /** Opens a pull request and resolves when its run has ended. Rejects if the run was not reviewed. */
  review(change: Change): Promise<ReviewedRun>
  close(): Promise<void>
}

/**
 * A deployment's lease, s: schedules then tick once a minute, and stay out of the counts. A machine with two cores
 * renews no lease within this time.
 */
const LEASE_SECONDS = 180
/** The interval between looks at a run, ms; a look costs three reads of the function `api`, which are not counted. */
const LOOK_MS = 200

/**
 * Starts the stack. With `model: true` a model answers at once without findings; a function gives the ms until each
 * answer.
 */
export async function openBenchStack(
  workspace: Workspace,
  options: { name?: string; model?: boolean | (() => number) } = {},
): Promise<BenchStack> {
  const directory = path.join(workspace.directory, options.name ?? 'state')
  const { model: wanted } = options
  const model = wanted ? await startModel(wanted === true ? undefined : wanted) : undefined
  const stack = await startLocalStack({
    directory,
    cacheDirectory: workspace.cacheDirectory,
    leaseSeconds: LEASE_SECONDS,
    ...(model ? { model: { baseUrl: model.baseUrl, model: 'bench', apiKey: 'none' } } : {}),
  })
  const { github } = stack
  if (!github) throw new Error('The stack has no GitHub stand-in.')
  const app = JSON.parse(await readFile(path.join(directory, 'app.json'), 'utf8')) as { webhookSecrets: string[] }
  const [webhookSecret = ''] = app.webhookSecrets
  return {
    local: stack,
    github,
    webhookSecret,
    model,
    review: (change) => review(stack, github, change, workspace.signal),
    async close() {
      await stack.close()
      await model?.close()
    },
  }
}

async function review(
  stack: LocalStack,
  github: GitHubStandIn,
  change: Change,
  signal: AbortSignal,
): Promise<ReviewedRun> {
  const [owner = '', name = ''] = change.repository.split('/')
  const { gitDirectory, base, head, title, body } = change
  const { id } = await github.addRepository({ owner, name, gitDirectory, defaultBranch: base.ref })
  const number = await github.openPullRequest({
    repository: change.repository,
    base: base.ref,
    baseSha: base.sha,
    head: head.ref,
    headSha: head.sha,
    title,
    body,
    author: { login: 'ada', type: 'User' },
  })
  const runId = runIdOf(id, number, causeOf.head(head.sha, base.ref))
  for (;;) {
    const response = await fetch(`${stack.apiUrl}/runs/${runId}`, { signal })
    const view = (await response.json()) as Partial<ReviewedRun> & { state?: string; outcome?: string; reason?: object }
    if (view.state === 'ended') {
      if (view.outcome !== 'reviewed') {
        throw new Error(`The run ended ${view.outcome}: ${JSON.stringify(view.reason ?? {})}`)
      }
      const execution = executionNameOf({ owner, name, number, head: head.sha, attempt: 1, runId })
      const [machine] = stack.assembly.stateMachines
      const executionArn = `${machine?.arn.replace(':stateMachine:', ':execution:')}:${execution}`
      return { runId, executionArn, verdict: view.verdict ?? '', reviews: view.reviews ?? [] }
    }
    await sleep(LOOK_MS, undefined, { signal })
  }
}
