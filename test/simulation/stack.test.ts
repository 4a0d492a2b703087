/** The simulated stack equals the deployed stack: the synthesized template has the same tables, queues and rooms. */
import { beforeAll, expect, test } from 'vitest'
import { cacheDirectory } from '../../cli/settings.ts'
import { type Assembly, loadAssembly } from '../../infra/local/assembly.ts'
import { roomNames } from '../../infra/rooms.ts'
import * as stack from './stack.ts'

let deployed: Assembly

beforeAll(async () => {
  deployed = await loadAssembly({ cacheDirectory })
})

test('the simulated table has the deployed keys and indexes', () => {
  const sorted = ({ AttributeDefinitions, ...rest }: Readonly<Record<string, unknown>>) => ({
    ...rest,
    AttributeDefinitions: [...(AttributeDefinitions as { AttributeName: string }[])].sort((one, other) =>
      one.AttributeName < other.AttributeName ? -1 : 1,
    ),
  })
  expect(sorted(stack.createTable)).toEqual(sorted(deployed.table.createTable))
})

test.each(Object.values(stack.queues))('the queue $name behaves the same, and wakes the same room', (queue) => {
  const { RedrivePolicy: redrive = '{}', ...attributes } = queue.attributes
  const found = deployed.queues.find(({ name }) => name === queue.name)
  expect(found?.attributes).toMatchObject(attributes)
  const receives = ({ maxReceiveCount }: { maxReceiveCount?: number }) => maxReceiveCount
  expect(receives(JSON.parse(redrive))).toBe(receives(JSON.parse(found?.attributes.RedrivePolicy ?? '{}')))
  expect(deployed.eventSources).toContainEqual(
    expect.objectContaining({ queue: queue.name, function: queue.consumer, batchSize: 1, maxConcurrency: 10 }),
  )
})

test.each(roomNames)('the simulated room %s has the deployed environment', (room) => {
  const names = (environment: object) =>
    Object.keys(environment)
      // Variables from Lambda, from the log, and from a deployment with a model.
      .filter((name) => !/^(POWERTOOLS_|AWS_LAMBDA_|MODEL_)/.test(name))
      .sort()
  const found = deployed.functions.find(({ name }) => name === room)
  expect(names(stack.environmentOf(room))).toEqual(names(found?.environment ?? {}))
})

test('the simulated sweeper comes as often as the deployed sweeper', () => {
  expect(deployed.schedules.map(({ function: room, intervalMs }) => [room, intervalMs])).toEqual([['sweep', 60_000]])
})
