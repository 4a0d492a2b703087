/** D12: what the App wrote under a former name is known by its marker and by the id of the App's account. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepSummary } from '../../../shared/github/keep-resource.ts'
import { markerOf } from '../../../shared/publishing/github-payloads.ts'
import { openWorld, type TestWorld } from './world.ts'

let world: TestWorld

beforeEach(async () => {
  world = await openWorld()
})

afterEach(async () => {
  await world.close()
})

it('D12: a summary that was written under the former name of the App is changed in place', async () => {
  const { github, repo, repositoryId, number, wire } = world
  const place = { repo, repositoryId, number }
  const first = await keepSummary(github, place, { kind: 'summary', body: 'one' }, 1)
  expect(first).toMatchObject({ state: 'shown', generation: 1 })
  const id = first.state === 'shown' ? first.id : undefined
  const { id: account } = await github.identity()
  const body = `one\n${markerOf.summary(repositoryId, number, 1)}`
  wire.break(/^GET .*\/issues\/\d+\/comments$/, {
    kind: 'answered',
    status: 200,
    body: [{ id, body, user: { id: account, login: 'reviewer[bot]' } }],
  })
  const second = await keepSummary(github, place, { kind: 'summary', body: 'two' }, 2)
  expect(second).toMatchObject({ state: 'shown', id, generation: 2 })
  const shown = world.standIn.pullRequest('acme/parcels', number).issueComments
  expect(shown.map((comment) => comment.body)).toEqual([`two\n${markerOf.summary(repositoryId, number, 2)}`])
})
