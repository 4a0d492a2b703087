/**
 * The cost of a run at Step Functions: the states that its execution enters, AWS's unit of billing. The peer is the
 * number of states that invoke a function: the rest is the machine's control flow.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { DescribeExecutionCommand, GetExecutionHistoryCommand, SFNClient } from '@aws-sdk/client-sfn'
import type { Bench, Measurement, Outcome, Workspace } from './measurement.ts'
import { type BenchStack, type Change, openBenchStack } from './support/bench-stack.ts'
import { exampleChange, wideChange } from './support/changes.ts'

export const transitions: Bench = {
  name: 'transitions',
  measures: 'states that one run’s execution enters, beside the states that invoke a function',
  run,
}

/** Consecutive runs of each change. */
const RUNS = 3
const WIDE_PARTS = 12
/** https://aws.amazon.com/step-functions/pricing, Standard workflows. */
const DOLLARS_PER_1000_TRANSITIONS = 0.025
/** The engine counts a state at its entry; the execution ends a moment after its run. */
const LOOK_MS = 50
/** One page holds every event of such a run. */
const EVENTS_MAX = 1_000

interface CountedExecution {
  readonly reviews: number
  readonly transitions: number
  /** Entries by the state's name, and the number of tasks among them. */
  readonly entries: ReadonlyMap<string, number>
  readonly tasks: number
}

async function run(workspace: Workspace): Promise<Outcome> {
  const stack = await openBenchStack(workspace, { model: true })
  const client = new SFNClient({
    region: stack.local.assembly.account.region,
    endpoint: stack.local.endpoints.AWS_ENDPOINT_URL_SFN ?? '',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  try {
    const example = await countedRuns(stack, client, await exampleChange(workspace.directory), workspace.signal)
    const wide = await countedRuns(stack, client, await wideChange(workspace.directory, WIDE_PARTS), workspace.signal)
    return {
      measurements: [...rowsOf('the example', example), ...rowsOf('a wide change', wide)],
      notes: [
        `At $${DOLLARS_PER_1000_TRANSITIONS} per 1,000 transitions the example costs ${centsOf(example)} US cents, the wide change ${centsOf(wide)}.`,
        'A retry enters its state again on AWS, and is billed; none happened where minimum and maximum are equal.',
      ],
    }
  } finally {
    client.destroy()
    await stack.close()
  }
}

async function countedRuns(
  stack: BenchStack,
  client: SFNClient,
  change: Change,
  signal: AbortSignal,
): Promise<CountedExecution[]> {
  const counted: CountedExecution[] = []
  for (let index = 0; index < RUNS; index += 1) {
    const { executionArn, reviews } = await stack.review({ ...change, repository: `${change.repository}-${index}` })
    while ((await client.send(new DescribeExecutionCommand({ executionArn }))).status === 'RUNNING') {
      await sleep(LOOK_MS, undefined, { signal })
    }
    const { events = [] } = await client.send(
      new GetExecutionHistoryCommand({ executionArn, maxResults: EVENTS_MAX, includeExecutionData: false }),
    )
    const entered = events.flatMap(({ type, stateEnteredEventDetails }) =>
      stateEnteredEventDetails ? [{ type, name: stateEnteredEventDetails.name ?? '' }] : [],
    )
    const entries = Map.groupBy(entered, ({ name }) => name)
    counted.push({
      reviews: reviews.length,
      transitions: stack.local.transitions(executionArn),
      entries: new Map([...entries].map(([name, list]) => [name, list.length])),
      tasks: entered.filter(({ type }) => type === 'TaskStateEntered').length,
    })
  }
  return counted
}

function rowsOf(change: string, executions: readonly CountedExecution[]): Measurement[] {
  const group = `${change} (${executions[0]?.reviews} reviews)`
  const names = new Set(executions.flatMap(({ entries }) => [...entries.keys()]))
  return [
    {
      group,
      what: 'transitions',
      unit: 'states',
      samples: executions.map((execution) => execution.transitions),
      peer: { what: 'tasks among them', samples: executions.map(({ tasks }) => tasks) },
    },
    {
      group,
      what: 'transitions a review',
      unit: 'states',
      samples: executions.map((execution) => execution.transitions / execution.reviews),
    },
    ...[...names].map((name) => ({
      group,
      what: `  ${name}`,
      unit: 'entries',
      samples: executions.map(({ entries }) => entries.get(name) ?? 0),
    })),
  ]
}

function centsOf(executions: readonly CountedExecution[]): string {
  const most = Math.max(...executions.map((execution) => execution.transitions))
  return ((most / 1_000) * DOLLARS_PER_1000_TRANSITIONS * 100).toFixed(2)
}
