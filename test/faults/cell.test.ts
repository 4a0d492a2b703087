/** The judge of the fault matrix sees every fault. The matrix itself is `npm run test:faults`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Around, openPostWorld, type PostWorld } from '../functions/post/world.ts'
import { type Kill, runCell, STEPS, type Step, type Trouble } from './cell.ts'

let world: PostWorld
/** A cell without an end is nudged many times. */
const CELLS_MS = 120_000

beforeAll(async () => {
  world = await openPostWorld()
})
afterAll(() => world.close())

function cell(name: string, trouble: Trouble, kill: Kill, sabotage?: NonNullable<Around['github']>): Promise<string> {
  const step = STEPS.find((one) => one.name === name) as Step
  return runCell(world, { step, trouble, kill, ...(sabotage === undefined ? {} : { sabotage }) })
}

/** GitHub's list is read as empty, as by code that takes a failure for "none" (D15). */
function blind(method: string): NonNullable<Around['github']> {
  return (called, call) => (called === method ? Promise.resolve({ rows: [], cut: false }) : call())
}

describe('the judge of the fault matrix sees', { timeout: CELLS_MS }, () => {
  it('a review said once and a label shown once', async () => {
    expect(await cell('review: create', 'hang_after', 'dies before it is recorded')).toBe('once')
    expect(await cell('label: remove', 'none', 'nobody dies')).toBe('once')
  })

  it('IL14: a check run that landed late, which GitHub can only close', async () => {
    expect(await cell('check run: create', 'late', 'nobody dies')).toBe('once, 1 closed copy')
  })

  it('D15: a blind list', async () => {
    expect(await cell('review: create', 'none', 'nobody dies', blind('reviews'))).not.toMatch(/^once/)
    expect(await cell('summary: create', 'none', 'nobody dies', blind('comments'))).not.toMatch(/^once/)
    expect(await cell('label: add', 'none', 'nobody dies', blind('labels'))).not.toMatch(/^once/)
  })

  it('a fault that did not strike', async () => {
    const elsewhere: NonNullable<Around['github']> = (method, call) =>
      method === 'createComment' ? Promise.resolve(1) : call()
    expect(await cell('summary: create', 'reset', 'nobody dies', elsewhere)).not.toMatch(/^once/)
  })
})
