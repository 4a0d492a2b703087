/**
 * The whole of Muster in the simulated world, without faults: a webhook ends in a review, and a seed is one history.
 */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ColdStart } from './kernel/bundle.ts'
import { bundleRooms } from './kernel/bundle.ts'
import { noFaults } from './kernel/faults.ts'
import { randomOf } from './kernel/random.ts'
import { findingAt, type LensBehaviourOf } from './simulated-lens.ts'
import { openWorld, type World, type WorldOptions } from './world.ts'

let coldStart: ColdStart
let open: World | undefined

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => {
  open?.close()
  open = undefined
})

const REPOSITORY = 'acme/widgets'
const PATIENCE_MS = 30 * 60_000

/** The only model lens finds something in each file; analyzers find nothing. */
const lens: LensBehaviourOf = (name, { files }) => ({
  durationMs: 20_000,
  findings: name === 'correctness' ? files.flatMap((file) => findingAt(file)) : [],
})

function simulate(seed: number, more: Partial<WorldOptions> = {}): World {
  open = openWorld({ seed, coldStart, lens, ...more })
  return open
}

/** Opens a pull request in a new repository. */
function opened(world: World): Promise<{ number: number; head: string }> {
  return world.act(async (github) => {
    await github.addRepository({ owner: 'acme', name: 'widgets', files: { 'a.ts': 'one\ntwo\n' } })
    return github.open({ repository: REPOSITORY, files: { 'a.ts': 'one\ntwo\nthree\n' }, body: 'What it is for' })
  })
}

const runsOf = ({ table }: World) => table.items('RUN#', 'RUN')
const allEnded = (world: World) => {
  const runs = runsOf(world)
  return runs.length > 0 && runs.every(({ state }) => state === 'ended')
}
const untilEnded = (world: World) => world.timeline.run(world.timeline.now + PATIENCE_MS, () => allEnded(world))

test('a webhook ends in a review, a summary, a completed check run and a label', async () => {
  const world = simulate(1)
  const { head } = await opened(world)
  expect(await untilEnded(world)).toBe(true)

  const { reviews, issueComments, labels, checkRuns } = world.github.pullRequest(REPOSITORY, 1)
  expect(reviews.map(({ commitId, state, comments }) => [commitId, state, comments.length])).toEqual([
    [head, 'COMMENTED', 1],
  ])
  expect(issueComments).toHaveLength(1)
  expect(labels).toEqual(['muster: action required'])
  expect(checkRuns.flatMap(({ runs }) => runs.map(({ status, conclusion }) => [status, conclusion]))).toEqual([
    ['completed', 'neutral'],
  ])
  expect(world.machine.executions().map(({ status }) => status)).toEqual(['SUCCEEDED'])
  expect(world.answers.map(({ status }) => status)).toEqual([202])
})

describe('a seed has a single history', () => {
  async function historyOf(seed: number) {
    const random = randomOf(seed, 100)
    const world = simulate(seed, {
      weather: {
        coldStarts: () => random.chance(0.3),
        forgetsMessage: () => random.chance(0.2),
        skewMs: () => random.between(-300_000, 300_000),
        faults: {
          fateOf: (sent) => ({
            ...noFaults().fateOf(sent),
            requestMs: random.between(1, 50),
            answerMs: random.between(1, 50),
          }),
        },
      },
    })
    await opened(world)
    await untilEnded(world)
    await world.act((github) => github.push(REPOSITORY, 1, { 'b.ts': 'another\n' }))
    await untilEnded(world)
    world.close()
    return world.trace.lines
  }

  test('byte for byte, after any seeds before', async () => {
    const first = await historyOf(11)
    const other = await historyOf(12)
    expect(await historyOf(11)).toEqual(first)
    expect(other).not.toEqual(first)
  })
})

test('a seed reports its time and its calls', async () => {
  const SEEDS = 10
  const before = process.cpuUsage()
  let calls = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const world = simulate(seed)
    await opened(world)
    expect(await untilEnded(world)).toBe(true)
    calls += world.trace.lines.filter((line) => line.includes(' → ')).length
    world.close()
  }
  const { user, system } = process.cpuUsage(before)
  const ms = (user + system) / 1_000 / SEEDS
  console.log(`simulation: ${ms.toFixed(0)} ms of processor a seed, ${(calls / SEEDS).toFixed(0)} calls on the wire`)
})
