/** PR6: only analyzers read an edited description, and the review of the head is not lost. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import type { LensBehaviourOf } from '../simulated-lens.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const runs = () => schedule.world.table.items('RUN#', 'RUN')
const runOfKind = (kind: 'full' | 'analyzers') => runs().find((run) => run.kind === kind)

test.each([
  ['has been read', 'ended', 1],
  ['is being read', 'running', 2],
] as const)('a redelivered opening is reviewed after an edit whose text %s', async (_so, state, attempt) => {
  schedule = await openSchedule({ coldStart, lenses: ['description', 'correctness'] })
  const { number } = await schedule.lose(() => schedule.open())
  await schedule.pass(1_000)
  await schedule.act((github) => github.edit(REPOSITORY, number, { body: 'What it is for, and why' }))
  await schedule.until('its text is', () => runOfKind('analyzers')?.state === state)
  const [opened] = schedule.world.answers
  if (!opened) throw new Error('No webhook was answered.')
  await schedule.deliver(opened.webhook)
  await schedule.rest()

  expect(runOfKind('full')).toMatchObject({ outcome: 'reviewed', attempt: 1 })
  expect(runOfKind('analyzers')).toMatchObject({ outcome: 'reviewed', attempt })
})

test('a failed review is retried after an edit of the description', async () => {
  let failure: Error | undefined = new Error('It broke.')
  const lens: LensBehaviourOf = (name) => ({
    durationMs: 1_000,
    ...(failure && name === 'correctness' ? { failure } : {}),
  })
  schedule = await openSchedule({ coldStart, lenses: ['description', 'correctness'], lens })
  const { number } = await schedule.open()
  await schedule.until('it is reviewed', () => runOfKind('full')?.state === 'ended')
  await schedule.pass(1_000)
  await schedule.act((github) => github.edit(REPOSITORY, number, { body: 'What it is for, and why' }))
  await schedule.until('its text is read', () => runOfKind('analyzers')?.state === 'ended')
  failure = undefined
  await schedule.ask('POST /runs/{runId}/retry', { runId: String(runOfKind('full')?.runId) })
  await schedule.rest()

  expect(runOfKind('full')).toMatchObject({ outcome: 'reviewed', concludedWhole: true, attempt: 2 })
})
