/** Pausing and resuming by comments, over the real ledger. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setHalt, standingHalt } from '../../../shared/ledger/halt.ts'
import { about } from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf } from '../../shared/samples.ts'
import { answerTo } from './answer-to.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const operators = { scope: 'repository/7', by: 'Operators/ana', why: 'leaked key' } as const
const halted = async () => void (await setHalt(world.ledger, { ...operators, since: world.now }))
/** An operator halts between the reading of the command's facts and its effect. */
const haltedMeanwhile = () => world.wire.beforeAnswer(about('GetItem', `RUN#${requestOf().runId}`), halted)

describe('/muster pause', () => {
  it('is recorded by its author, and lifted by a comment', async () => {
    expect(await answerTo(world, '/muster pause for the release')).toMatch(/^Muster is paused/)
    expect(await standingHalt(world.ledger, repository)).toMatchObject({ by: 'github:mia', why: 'for the release' })
    expect(await answerTo(world, '/muster resume')).toMatch(/goes on/)
    expect(await standingHalt(world.ledger, repository)).toBeUndefined()
    expect(await answerTo(world, '/muster resume')).toMatch(/was not paused/)
  })

  it('over an operator’s halt promises no resumption by a comment', async () => {
    await halted()
    expect(await answerTo(world, '/muster pause')).toMatch(/only an operator can lift/)
    expect(await standingHalt(world.ledger, repository)).toMatchObject(operators)
  })
})

describe('/muster resume', () => {
  it('lifts no halt set by an operator over a pause', async () => {
    await answerTo(world, '/muster pause noise')
    await halted()
    expect(await answerTo(world, '/muster resume')).toMatch(/only an operator can lift/)
    expect(await standingHalt(world.ledger, repository)).toMatchObject(operators)
  })

  it('lifts no halt set by an operator after the command’s facts were read', async () => {
    await answerTo(world, '/muster pause')
    haltedMeanwhile()
    expect(await answerTo(world, '/muster resume')).toMatch(/only an operator can lift/)
    expect(await standingHalt(world.ledger, repository)).toMatchObject(operators)
  })
})
