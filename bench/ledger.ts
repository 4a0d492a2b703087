/**
 * The cost of a run at the table: writes and reads, counted at the wire before DynamoDB, by function and by step. The
 * peer is the budget: at most 8 writes for each review and 25 for the rest of a run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { roomNames } from '../infra/rooms.ts'
import type { Bench, Measurement, Outcome, Workspace } from './measurement.ts'
import { type Change, openBenchStack, type ReviewedRun } from './support/bench-stack.ts'
import { exampleChange, wideChange } from './support/changes.ts'
import { type TableAccess, type TableTap, tapTable } from './support/table-tap.ts'

export const ledger: Bench = {
  name: 'ledger',
  measures: 'table writes and reads of one run, step by step, beside their budget',
  run,
}

/** Consecutive runs of each change. */
const RUNS = 3
/** Parts of the wide change: enough for reviews that meet at the fleet. */
const WIDE_PARTS = 12
/** Writes of a review: ticket, grant, lease, result and slot. */
const WRITES_OF_REVIEW_BUDGET = 8
/** Writes of a run without the writes of its reviews. */
const WRITES_OF_RUN_BUDGET = 25
/** A run is over after this silence of the table, ms: trailing writes count too. */
const QUIET_MS = 1_500
const QUIET_LOOK_MS = 100
/** Apart from the runs: the bench's own requests, and the sweeper's queries of every shard each minute. */
const ROOMS_APART = ['', 'api', 'sweep']
/** All writes of these rooms serve reviews. */
const ROOMS_OF_REVIEWS = ['admit', 'review']

interface CountedRun {
  readonly reviews: number
  readonly accesses: readonly TableAccess[]
}

async function run(workspace: Workspace): Promise<Outcome> {
  const stack = await openBenchStack(workspace, { model: true })
  const tap = tapTable(stack.local.endpoints.AWS_ENDPOINT_URL_DYNAMODB ?? '')
  try {
    const example = await countedRuns(tap, stack.review, await exampleChange(workspace.directory), workspace.signal)
    const wide = await countedRuns(
      tap,
      stack.review,
      await wideChange(workspace.directory, WIDE_PARTS),
      workspace.signal,
    )
    return {
      measurements: [
        ...totalsOf(`the example (${reviewsIn(example)} reviews)`, example),
        ...totalsOf(`a wide change (${reviewsIn(wide)} reviews)`, wide),
        ...stepsOf('writes of the example, step by step', example, isWriting),
        ...stepsOf('reads of the example, step by step', example, ({ kind }) => kind === 'read'),
        ...stepsOf('writes of the wide change, step by step', wide, isWriting),
      ],
      notes: [
        'Each write counts, in transactions too and when refused; so does each condition check. Index rows do not count.',
        'A review’s writes: all writes of the functions admit and review, and all writes of a review’s item. A run’s writes: all others but the sweeper’s.',
        'Steps are counts of a whole run; “→” leads to the item’s new state; brackets hold the other members.',
      ],
    }
  } finally {
    tap.close()
    await stack.close()
  }
}

async function countedRuns(
  tap: TableTap,
  review: (change: Change) => Promise<ReviewedRun>,
  change: Change,
  signal: AbortSignal,
): Promise<CountedRun[]> {
  const counted: CountedRun[] = []
  for (let index = 0; index < RUNS; index += 1) {
    tap.taken()
    // A fresh repository for each run: no run knows an earlier run.
    const { reviews } = await review({ ...change, repository: `${change.repository}-${index}` })
    while (tap.quietMs(ROOMS_APART) < QUIET_MS) await sleep(QUIET_LOOK_MS, undefined, { signal })
    const accesses = tap.taken().filter(({ room }) => !ROOMS_APART.includes(room))
    counted.push({ reviews: reviews.length, accesses })
  }
  return counted
}

function totalsOf(group: string, runs: readonly CountedRun[]): Measurement[] {
  const count = (what: (access: TableAccess) => boolean) => runs.map(({ accesses }) => accesses.filter(what).length)
  const perReview = (what: (access: TableAccess) => boolean) =>
    runs.map(({ accesses, reviews }) => accesses.filter(what).length / reviews)
  const ofReview = (access: TableAccess) => isWriting(access) && isOfReview(access) && !isRenewal(access)
  const budget = (writes: number) => ({ peer: { what: 'budget', samples: [writes] } })
  return [
    {
      group,
      what: 'writes a review',
      unit: 'writes',
      samples: perReview(ofReview),
      ...budget(WRITES_OF_REVIEW_BUDGET),
    },
    {
      group,
      what: 'writes of the run besides',
      unit: 'writes',
      samples: count((access) => isWriting(access) && !isOfReview(access)),
      ...budget(WRITES_OF_RUN_BUDGET),
    },
    { group, what: 'writes in all', unit: 'writes', samples: count(isWriting) },
    { group, what: 'of them refused', unit: 'writes', samples: count((access) => isWriting(access) && !access.done) },
    { group, what: 'lease renewals, apart', unit: 'writes', samples: count(isRenewal) },
    { group, what: 'items read', unit: 'reads', samples: count(({ operation }) => operation === 'Get') },
    { group, what: 'queries of the table', unit: 'reads', samples: count(({ operation }) => operation === 'Query') },
    {
      group,
      what: 'queries of an index',
      unit: 'reads',
      samples: count(({ operation }) => operation.startsWith('Query of ')),
    },
  ]
}

/**
 * The number of each step in a run: functions in the order of their work, steps in the order of their first occurrence.
 */
function stepsOf(group: string, runs: readonly CountedRun[], what: (access: TableAccess) => boolean): Measurement[] {
  const counts = runs.map(({ accesses }) => countedBy(accesses.filter(what).map(stepOf)))
  const order = (step: string) => roomNames.findIndex((room) => step.startsWith(room))
  const steps = [...new Set(counts.flatMap((count) => [...count.keys()]))].sort(
    (one, other) => order(one) - order(other),
  )
  const [unit = ''] = group.split(' ', 1)
  return steps.map((step) => ({ group, what: step, unit, samples: counts.map((count) => count.get(step) ?? 0) }))
}

function stepOf({ room, operation, item, state, members, done }: TableAccess): string {
  const named = members.map((member) => member.replace(IDENTITY, '…'))
  const told = named.filter((member) => !['state', 'duePk', 'dueAt', 'version'].includes(member))
  const becomes = state === undefined ? '' : ` → ${state}`
  const also = state === undefined && told.length > 0 ? ` (${[...new Set(told)].slice(0, 3).join(', ')})` : ''
  return `${room.padEnd(8)} ${item} ${operation}${becomes}${also}${done ? '' : ', refused'}`
}

/** A head or a review in the name of a member: one step for all heads and reviews. */
const IDENTITY = /[0-9a-f]{40,}(\/.*)?$/

function countedBy(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function isWriting({ kind }: TableAccess): boolean {
  return kind === 'write' || kind === 'check'
}

function isOfReview({ room, item }: TableAccess): boolean {
  return ROOMS_OF_REVIEWS.includes(room) || item === 'REVIEW'
}

/** Sets the lease's end and nothing else. */
function isRenewal({ room, item, members, state }: TableAccess): boolean {
  return room === 'review' && item === 'REVIEW' && state === undefined && members.includes('until')
}

function reviewsIn([first]: readonly CountedRun[]): number {
  return first?.reviews ?? 0
}
