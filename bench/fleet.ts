/**
 * The fleet's ceiling and its cost, in virtual time: the real functions in the simulated world, with request times as
 * on AWS. The peer is the usual alternative, a counter that waiting executions poll.
 */
import { bundleRooms, type ColdStart } from '../test/simulation/kernel/bundle.ts'
import { randomOf } from '../test/simulation/kernel/random.ts'
import type { Bench, Measurement, Outcome, Workspace } from './measurement.ts'
import { openBenchStack } from './support/bench-stack.ts'
import { wideChange } from './support/changes.ts'
import { ROUND_TRIP_MS, runFleet, TRANSITION_MS } from './support/fleet-world.ts'
import { runPolled } from './support/polled-counter.ts'
import { handOvers, makespan, peakOf, percentBeyond } from './support/readings.ts'
import { fillUnrelated } from './support/unrelated-items.ts'

export const fleet: Bench = {
  name: 'fleet',
  measures: 'reviews at once across executions, makespan beside the ideal and beside a polled counter',
  run,
}

const CEILING = 15
/** A run has at most 40 reviews, so 200 reviews need more than four executions. */
const ARRANGEMENTS = [
  { executions: 1, reviewsEach: 40 },
  { executions: 4, reviewsEach: 40 },
  { executions: 40, reviewsEach: 5 },
] as const
const TABLE_SIZES = [0, 10_000, 1_000_000] as const
/** The permitted excess of a makespan over the ideal, net of the platform's own transitions. */
const BEYOND_PERCENT_MAX = 5
/**
 * The run in real time: parts of the model's lens for each pull request, and a ceiling within the reach of two cores.
 */
const REAL = { pullRequests: 4, parts: 10, ceiling: 3 } as const
/** ms */
const THINKING_MS = { from: 200, to: 500 } as const
/** ms of the world: the unit of hand-overs. */
const ROUND_TRIP_UNIT_MS = 10

async function run(workspace: Workspace): Promise<Outcome> {
  const coldStart = await bundleRooms()
  // First, because the workspace's time limit is real; the virtual runs take as long as they take.
  const measurements = await onThisMachine(workspace)
  for (const arrangement of ARRANGEMENTS) measurements.push(...(await arranged(coldStart, arrangement)))
  measurements.push(await roundTrips(coldStart))
  measurements.push(...(await tableSizes(coldStart)))
  return {
    measurements,
    notes: [
      `Virtual time. A request and its answer take ${Object.entries(ROUND_TRIP_MS)
        .map(([service, ms]) => `${ms} ms (${service})`)
        .join(', ')}; Step Functions ${TRANSITION_MS} ms from one task to the next.`,
      'Ideal: the same readings, begun in the same order, by a scheduler that takes no time; net of transitions: each reading after the transitions of Step Functions too.',
      'At once: readings of lenses that overlap, not slots. Hand-over: from the end of one reading to the beginning of the next, while reviews wait.',
      'The makespan is from the first webhook to the end of the last reading.',
    ],
  }
}

async function arranged(
  coldStart: ColdStart,
  { executions, reviewsEach }: (typeof ARRANGEMENTS)[number],
): Promise<Measurement[]> {
  const reviews = executions * reviewsEach
  const ours = await runFleet({ coldStart, executions, reviewsEach, ceiling: CEILING, transitionMs: TRANSITION_MS })
  const { counts } = ours.world.table
  const writes = Object.values(counts.writes).reduce((sum, count) => sum + count, 0)
  ours.world.close()
  const polled = await runPolled({ coldStart, reviews, ceiling: CEILING, transitionMs: TRANSITION_MS })
  const group = `${executions} at once (${reviews} reviews of 20 to 200 s, ceiling ${CEILING})`
  // A Map as wide as the fleet admits its next review after a completed one: one more task.
  const transitions = executions === 1 ? 2 : 1
  const netMs = TRANSITION_MS * transitions
  const beside = (samples: readonly number[]) => ({ peer: { what: 'polled counter', samples } })
  return [
    { group, what: 'makespan', unit: 's', samples: [makespan(ours) / 1_000], ...beside([makespan(polled) / 1_000]) },
    {
      group,
      what: 'makespan beyond the ideal',
      unit: '%',
      samples: [percentBeyond(ours, CEILING)],
      ...beside([percentBeyond(polled, CEILING)]),
    },
    {
      group,
      what: 'the same, net of transitions',
      unit: '%',
      samples: [percentBeyond(ours, CEILING, netMs)],
      peer: { what: 'limit', samples: [BEYOND_PERCENT_MAX] },
    },
    {
      group,
      what: 'most at once',
      unit: 'reviews',
      samples: [peakOf(ours.readings)],
      ...beside([peakOf(polled.readings)]),
    },
    {
      group,
      what: 'hand-over',
      unit: 'ms',
      samples: handOvers(ours.readings, CEILING),
      ...beside(handOvers(polled.readings, CEILING)),
    },
    {
      group,
      what: 'writes a review, with all writes of its run and the sweeper',
      unit: 'writes',
      samples: [writes / reviews],
      peer: { what: 'polled counter alone', samples: [polled.writes / reviews] },
    },
  ]
}

/** From the end of a reading to the beginning of the next, in sequential requests: nothing else takes time. */
async function roundTrips(coldStart: ColdStart): Promise<Measurement> {
  const { world, readings } = await runFleet({
    coldStart,
    executions: 12,
    reviewsEach: 5,
    ceiling: CEILING,
    transitionMs: 0,
    roundTripMs: ROUND_TRIP_UNIT_MS,
  })
  world.close()
  const samples = handOvers(readings, CEILING).map((ms) => ms / ROUND_TRIP_UNIT_MS)
  return { group: 'hand-over in itself', what: 'requests one after the other', unit: 'round trips', samples }
}

/** One run of five reviews, with readings too short for a renewal of a lease, beside ever more unrelated items. */
async function tableSizes(coldStart: ColdStart): Promise<Measurement[]> {
  const counted = new Map<number, Counted>()
  for (const size of TABLE_SIZES) counted.set(size, await countedRun(coldStart, size))
  const [least] = TABLE_SIZES
  const row = (size: number, what: keyof Counted, unit: string): Measurement => ({
    group: 'one run of 5 reviews, by the number of unrelated items',
    what: `${what}, ${size.toLocaleString('en')} items`,
    unit,
    samples: [counted.get(size)?.[what] ?? Number.NaN],
    ...(size === least ? {} : { peer: { what: 'empty table', samples: [counted.get(least)?.[what] ?? Number.NaN] } }),
  })
  return (['writes', 'reads', 'bytes answered'] as const).flatMap((what) =>
    TABLE_SIZES.map((size) => row(size, what, UNITS[what])),
  )
}

interface Counted {
  /** Writes of single items, also in transactions, with condition checks and refused writes. */
  readonly writes: number
  /** Read items, and queries. */
  readonly reads: number
  readonly 'bytes answered': number
}

const UNITS: Readonly<Record<keyof Counted, string>> = {
  writes: 'writes',
  reads: 'reads',
  'bytes answered': 'bytes',
}
/** ms of the world; shorter than a heartbeat. */
const SHORT_READING_MS = 2_000

async function countedRun(coldStart: ColdStart, items: number): Promise<Counted> {
  const before = { writes: 0, reads: 0 }
  let bytes = 0
  const { world } = await runFleet({
    coldStart,
    executions: 1,
    reviewsEach: 5,
    ceiling: CEILING,
    transitionMs: TRANSITION_MS,
    readingMs: () => SHORT_READING_MS,
    withoutSweeps: true,
    prepared({ table }) {
      fillUnrelated(table, items)
      Object.assign(before, totalsOf(table.counts))
      const { answer } = table
      table.answer = (request) => {
        const answered = answer(request)
        bytes += answered.body.length
        return answered
      }
    },
  })
  const after = totalsOf(world.table.counts)
  world.close()
  return {
    writes: after.writes - before.writes,
    reads: after.reads - before.reads,
    'bytes answered': bytes,
  }
}

function totalsOf({ requests, writes }: { requests: Record<string, number>; writes: Record<string, number> }) {
  const { GetItem = 0, Query = 0 } = requests
  return { writes: Object.values(writes).reduce((sum, count) => sum + count, 0), reads: GetItem + Query }
}

/** Real time: the whole stack on this machine, several pull requests at once, and a model that thinks for a moment. */
async function onThisMachine(workspace: Workspace): Promise<Measurement[]> {
  const { from, to } = THINKING_MS
  const random = randomOf(1)
  const stack = await openBenchStack(workspace, { model: () => random.between(from, to) })
  try {
    const change = await wideChange(workspace.directory, REAL.parts)
    const { ok } = await fetch(`${stack.local.apiUrl}/fleet/limits`, {
      method: 'PATCH',
      body: JSON.stringify({ configured: REAL.ceiling }),
      signal: workspace.signal,
    })
    if (!ok) throw new Error('The API refused the fleet’s limit.')
    const startedAt = performance.now()
    const runs = await Promise.all(
      Array.from({ length: REAL.pullRequests }, (_, index) =>
        stack.review({ ...change, repository: `${change.repository}-${index}` }),
      ),
    )
    const tookMs = performance.now() - startedAt
    const reviews = runs.reduce((sum, each) => sum + each.reviews.length, 0)
    const group = `on this machine, in real time (${REAL.pullRequests} pull requests at once, ${reviews} reviews, a model that takes ${from} to ${to} ms)`
    const ceiling = { what: 'ceiling', samples: [REAL.ceiling] }
    return [
      { group, what: 'most prompts at once', unit: 'reviews', samples: [stack.model?.mostAtOnce ?? 0], peer: ceiling },
      { group, what: 'until GitHub shows everything', unit: 's', samples: [tookMs / 1_000] },
    ]
  } finally {
    await stack.close()
  }
}
