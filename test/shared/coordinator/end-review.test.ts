import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Executions } from '../../../shared/aws/executions.ts'
import { tellDone } from '../../../shared/coordinator/end-review.ts'
import { dropToken, endReview } from '../../../shared/ledger/review.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { asked, stored } from './fleet-of-tests.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

it('I5: after a death before the answer to the task, the review keeps its token and is still due', async () => {
  const ended = await endReview(world.ledger, await asked(world, 0))
  if (!ended) throw new Error('Expected the review to end.')
  const dies = { client: { send: () => Promise.reject(new Error('The process dies here.')) } } as unknown as Executions
  await expect(tellDone({ ...world.coordinator, executions: dies }, ended)).rejects.toThrow()
  expect(await world.item(keyOf.review(ended))).toMatchObject({ token: ended.token, dueAt: expect.any(Number) })
  await tellDone(world.coordinator, await stored(world, 0))
  expect(world.answers).toEqual([{ token: ended.token, output: { outcome: 'ended', epoch: ended.epoch } }])
  expect(await stored(world, 0)).not.toHaveProperty('token')
})

it('I5: a done review whose token was removed by a late grant is due no longer', async () => {
  const ended = await endReview(world.ledger, await asked(world, 0))
  if (ended?.token === undefined) throw new Error('Expected the review to end with its token.')
  await dropToken(world.ledger, ended, ended.token)
  expect(await world.item(keyOf.review(ended))).toHaveProperty('dueAt')
  await tellDone(world.coordinator, await stored(world, 0))
  expect(world.answers).toEqual([])
  expect(await world.item(keyOf.review(ended))).not.toHaveProperty('dueAt')
})
