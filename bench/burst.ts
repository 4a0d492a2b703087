/**
 * A burst of pull requests while the model is throttled and workers die, in virtual time: the real functions in the
 * simulated world. Nothing may be lost or doubled: the bench checks the world's invariants, and a breach fails the
 * bench.
 */
import { bundleRooms } from '../test/simulation/kernel/bundle.ts'
import type { Bench, Measurement, Outcome } from './measurement.ts'
import { budgetMs, idealEnds, type Window } from './support/burst-ideal.ts'
import { type Burst, runBurst, TRANSACTION_MS } from './support/burst-world.ts'
import { conflictsIn, type Tally, type WriteKind } from './support/transaction-conflicts.ts'

export const burst: Bench = {
  name: 'burst',
  measures:
    '1,000 pull requests in a minute, a model that is throttled and workers that die: lost, doubled, time to drain',
  run,
}

const PULLS = 1_000
const INSTALLATIONS = 20
const CEILING = 100
const WITHIN_MS = 60_000
const KILL_EVERY_MS = 5_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

async function run(): Promise<Outcome> {
  const coldStart = await bundleRooms()
  const seen = await runBurst({
    coldStart,
    pulls: PULLS,
    installations: INSTALLATIONS,
    withinMs: WITHIN_MS,
    ceiling: CEILING,
    killEveryMs: KILL_EVERY_MS,
  })
  return {
    measurements: [...whole(seen), ...drained(seen), ...conflicts(seen), ...oneInstallation(seen)],
    notes: [
      `Virtual time. ${INSTALLATIONS} installations, so that the fleet is the bottleneck, and not GitHub's limit on new content; a model and an analyzer for each pull request; ceiling ${CEILING}; leases of 180 s.`,
      `429 from the model for a third of the time, one to three minutes at a stretch: ${seen.throttled} throttled calls. Every ${KILL_EVERY_MS / 1_000} s a working process died: ${listed(seen.kills)}.`,
      `Ideal: the same readings by a scheduler that takes no time, knows when the model answers, and whose workers never die.`,
      `Conflicts: each transaction holds its items for ${TRANSACTION_MS} ms, checked items too; another writer of a held item is refused.`,
      `Runs ended as: ${listed(seen.outcomes)}.`,
      `Failed invocations: ${listed(seen.errors)}.`,
    ],
  }
}

function whole(seen: Burst): Measurement[] {
  const group = `${PULLS.toLocaleString('en')} pull requests`
  const shown = (isMeant: (reviews: number) => boolean) =>
    [...seen.reviewsShown].reduce((sum, [reviews, pulls]) => sum + (isMeant(reviews) ? pulls : 0), 0)
  const passed = seen.outcomes.get('reviewed pass') ?? 0
  return [
    { group, what: 'without a review', unit: 'pull requests', samples: [shown((reviews) => reviews === 0)] },
    { group, what: 'with more than one', unit: 'pull requests', samples: [shown((reviews) => reviews > 1)] },
    { group, what: 'read whole', unit: 'runs', samples: [passed], peer: { what: 'all', samples: [PULLS] } },
    {
      group,
      what: 'readings of lenses',
      unit: 'readings',
      samples: [seen.readings],
      peer: { what: 'each once', samples: [seen.needed.length] },
    },
  ]
}

function drained({ endedAfter, needed, windows, heldMs, closedMs }: Burst): Measurement[] {
  const drainMs = Math.max(...endedAfter)
  const group = 'time to drain'
  const ideal = idealEnds(needed, CEILING, windows)
  const unthrottled = idealEnds(needed, CEILING, [])
  const row = (what: string, part: number): Measurement => ({
    group,
    what,
    unit: 'min',
    samples: [at(endedAfter, part) / MINUTE_MS],
    peer: { what: 'ideal', samples: [at(ideal, part) / MINUTE_MS] },
  })
  const readMs = needed.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return [
    row('half of the runs', 0.5),
    row('nine in ten', 0.9),
    row('all', 1),
    { group, what: 'ideal without 429', unit: 'min', samples: [at(unthrottled, 1) / MINUTE_MS] },
    {
      group,
      what: 'pool of the model closed',
      unit: 'min',
      samples: [closedMs / MINUTE_MS],
      peer: { what: 'model throttled', samples: [within(windows, drainMs) / MINUTE_MS] },
    },
    { group, what: 'slots held', unit: '%', samples: [(100 * heldMs) / (CEILING * drainMs)] },
    {
      group,
      what: 'slots used for a needed reading',
      unit: '%',
      samples: [(100 * readMs) / (CEILING * drainMs)],
    },
  ]
}

/** ms of these windows before `untilMs`. */
function within(windows: readonly Window[], untilMs: number): number {
  return windows.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, untilMs) - from), 0)
}

/** The quantile of the values at `part`. */
function at(values: readonly number[], part: number): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(part * values.length) - 1] ?? Number.NaN
}

const NAMES: Readonly<Record<WriteKind, string>> = {
  claim: 'claim',
  conclude: 'conclude',
  parked: 'mark "parked"',
  'other transaction': 'other transactions',
  single: 'writes of one item',
}

/** Other writes touch the halts only where people set or lift a halt. */
const CHECKS_HALTS: ReadonlySet<WriteKind> = new Set(['claim', 'conclude'])

function conflicts({ overlaps, fleetWrites }: Burst): Measurement[] {
  const group = 'refused because another transaction held an item'
  const rows = (Object.entries(overlaps.tallies) as [WriteKind, Tally][]).flatMap(([kind, tally]): Measurement[] => {
    const halts = tally.conflicts.get('HALT') ?? 0
    const part = (count: number) => (tally.attempts === 0 ? 0 : (100 * count) / tally.attempts)
    const parts = { group, unit: '% of tries' }
    return [
      ...(CHECKS_HALTS.has(kind) ? [{ ...parts, what: `${NAMES[kind]}, on the halts`, samples: [part(halts)] }] : []),
      { ...parts, what: `${NAMES[kind]}, on other items`, samples: [part(conflictsIn(tally) - halts)] },
      ...(tally.waits.length > 0
        ? [
            { group, what: `${NAMES[kind]}, until its acceptance`, unit: 'ms', samples: tally.waits },
            { group, what: `${NAMES[kind]}, most tries`, unit: 'tries', samples: [tally.triesMax] },
          ]
        : []),
    ]
  })
  const refused = (100 * fleetWrites.refused) / (fleetWrites.done + fleetWrites.refused)
  return [
    ...rows,
    { group: 'the fleet item', what: 'writes', unit: 'writes', samples: [fleetWrites.done] },
    {
      group: 'the fleet item',
      what: 'refused after a change by another writer',
      unit: '% of tries',
      samples: [refused],
    },
  ]
}

function oneInstallation({ created }: Burst): Measurement[] {
  const group = 'with a single installation'
  return [
    { group, what: 'created at GitHub', unit: 'reviews, submits, comments', samples: [created] },
    { group, what: 'ideal, by its budget', unit: 'h', samples: [budgetMs(created) / HOUR_MS] },
  ]
}

function listed(counts: ReadonlyMap<string, number>): string {
  const parts = [...counts].toSorted(([, one], [, other]) => other - one).map(([what, count]) => `${what} ${count}`)
  return parts.length > 0 ? parts.join(', ') : 'none'
}
