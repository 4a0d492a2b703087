/** The first seeds, as `npm run simulate` runs them: each seed is one history, and a broken product is noticed. */
import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { Change } from '../mutants/change.ts'
import { addSeed, never, type Sometimes } from './counters.ts'
import { bundleRooms } from './kernel/bundle.ts'
import { runSeed } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'

const SEEDS = 200
/** The share of seeds that are run twice and compared: one of 40, five in all. */
const AGAIN_EVERY = 40

test(`${SEEDS} seeds hold, each seed is one history, and faults strike`, { timeout: 600_000 }, async () => {
  const broken: string[] = []
  const seen = new Map<Sometimes, number>()
  await runSeeds({
    from: 1,
    count: SEEDS,
    workers: Math.min(2, availableParallelism()),
    againEvery: AGAIN_EVERY,
    done({ outcome }) {
      addSeed(seen, outcome.seen)
      if (outcome.broken) broken.push(`npm run simulate -- --seed ${outcome.seed}: ${outcome.broken.message}`)
    },
  })
  expect(broken).toEqual([])
  // Only many seeds must have every event (npm run simulate); these seeds have the frequent events.
  expect(never(seen).filter((what) => what.startsWith('fault: '))).toEqual([])
})

describe('a broken product is noticed', () => {
  const mutants: readonly (Change & { readonly what: string; readonly breaks: string })[] = [
    {
      what: 'a grant without a check for free slots',
      file: 'shared/ledger/fleet-write.ts',
      find: "value('room', room)",
      replace: "value('room', room + 100)",
      breaks: 'I1',
    },
  ]

  test.each(mutants)('$what breaks $breaks', { timeout: 300_000 }, async ({ breaks, ...mutant }) => {
    const coldStart = await bundleRooms(mutant)
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { broken } = await runSeed(seed, coldStart, { traced: false })
      if (broken) {
        expect(broken.invariant).toBe(breaks)
        return
      }
    }
    expect.unreachable('No seed noticed it.')
  })
})
