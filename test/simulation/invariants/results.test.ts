/** I2 and I6: what a run adopts is what its reviews completed with, and none of it is lost on the way. */
import { describe, expect, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { commentBody, finding, goOn, HEAD, item, keys, MARKER, type Synthetic, steps } from './synthetic.ts'

const other = { ...finding, fingerprint: 'e'.repeat(64) }
const done = { state: 'completed', result: 'result', findings: 1, blocking: 0, until: undefined }

describe('I2', () => {
  test.each<[string, (world: Synthetic) => void, RegExp]>([
    [
      'who holds no lease completes nothing',
      (world) => world.change(...keys.review, { state: 'waiting' }),
      /A review was completed that was not leased/,
    ],
    [
      'nobody completes without a name',
      (world) => world.change(...keys.review, { owner: undefined }),
      /A review was completed by other/,
    ],
  ])('%s', (_name, before, sentence) => {
    const { world, observer } = observed('I2')
    goOn(world, 'leased')
    before(world)
    steps.completed(world)
    expectBreach(observer.afterStep, 'I2', sentence)
  })

  test.each([
    ['at another epoch', { epoch: 2 }],
    ['in another name', { owner: 'w2' }],
  ])('nobody completes %s', (_name, members) => {
    const { world, observer } = observed('I2')
    goOn(world, 'leased')
    world.document('result', {})
    world.change(...keys.review, { ...done, ...members })
    expectBreach(observer.afterStep, 'I2', /A review was completed by other than its holder/)
  })

  test('a result is stored before it is named', () => {
    const { world, observer } = observed('I2')
    goOn(world, 'leased')
    world.change(...keys.review, done)
    expectBreach(observer.afterStep, 'I2', /A review names a result that is not stored/)
  })

  test('a run adopts no finding that is not of its reviews', () => {
    const { world, observer } = observed('I2')
    goOn(world, 'completed')
    world.document('result', { lens: 'correctness', part: 0, findings: [other], rejected: [] })
    steps.concluded(world)
    expectBreach(observer.afterStep, 'I2', /A run adopted a finding that no review/)
  })

  test('a lens counts as read only if all of its reviews are completed', () => {
    const { world, observer } = observed('I2')
    goOn(world, 'completed')
    const reviews = [0, 1].map((part) => ({ lens: 'correctness', part }))
    world.document('plan', { reviews, openFindings: [], carried: [] })
    steps.concluded(world)
    expectBreach(observer.afterStep, 'I2', /A lens counts as read/)
  })
})

describe('I6', () => {
  /** A conclusion with these members, of a review with these findings; its message is in this state. */
  function concluded(members: object, findings: object[] = [finding], plan: object = {}, state = 'owed') {
    const { world, observer } = observed('I6')
    goOn(world, 'completed')
    world.document('result', { lens: 'correctness', part: 0, findings, rejected: [] })
    const planned = { reviews: [{ lens: 'correctness', part: 0 }], openFindings: [], carried: [], ...plan }
    world.document('plan', planned)
    const lenses = [{ lens: 'correctness', state: 'read', findings: findings.length, rejected: 0 }]
    const whole = {
      findings: [finding],
      announcedBefore: [],
      dispositions: [],
      rejected: [],
      merged: 0,
      lenses,
      ...members,
    }
    world.document('own', whole)
    world.document('message', { kind: 'review', marker: MARKER, head: HEAD, comments: [{ body: commentBody }] })
    world.put(item(keys.message, { document: 'message', state }))
    world.change(...keys.run, { state: 'concluded', conclusion: 'own', version: 4 })
    return { world, observer }
  }

  test('findings that are posted, merged or rejected add up', () => {
    const { observer } = concluded({ merged: 1 }, [finding, finding])
    observer.afterStep()
    expect(observer.counts.I6).toBe(1)
  })

  test.each<[string, object, object[], RegExp]>([
    ['a finding is lost', { findings: [] }, [finding], /A finding is neither posted, rejected nor merged/],
    ['merged ones are miscounted', { merged: 2 }, [finding, finding], /Merged findings are miscounted/],
    ['one is posted twice', { findings: [finding, finding] }, [finding], /A finding is posted twice/],
    [
      'a rejected one is lost',
      { lenses: [{ lens: 'correctness', state: 'read', findings: 1, rejected: 1 }] },
      [finding],
      /A conclusion counts other findings/,
    ],
    ['a rejected one is added', { rejected: [{}] }, [finding], /Rejected findings were lost, or added/],
    [
      'a lens counts others',
      { lenses: [{ lens: 'correctness', state: 'read', findings: 3, rejected: 0 }] },
      [finding],
      /A conclusion counts other findings/,
    ],
  ])('%s', (_name, members, findings, sentence) => {
    const { observer } = concluded(members, findings)
    expectBreach(observer.afterStep, 'I6', sentence)
  })

  test('of a lens that failed, a review may complete after it was looked at', () => {
    const lenses = [{ lens: 'correctness', state: 'failed', findings: 0, rejected: 0 }]
    concluded({ findings: [], lenses }).observer.afterStep()
  })

  test('an open finding is answered', () => {
    const plan = { openFindings: [other] }
    expectBreach(concluded({}, [finding], plan).observer.afterStep, 'I6', /An open finding was not answered/)
    const dispositions = [{ finding: other, verb: 'fixed' }]
    concluded({ dispositions }, [finding], plan).observer.afterStep()
  })

  test('a new finding with lines is in what the run says', () => {
    const { observer } = concluded({ findings: [finding, other] }, [finding, other])
    expectBreach(observer.afterStep, 'I6', /A finding with lines is in no message/)
  })

  test('what counts as said stands in a review that was said', () => {
    const members = { announcedBefore: [finding.fingerprint] }
    const { observer } = concluded(members)
    expectBreach(observer.afterStep, 'I6', /A finding counts as said and stands in no review/)
    concluded(members, [finding], {}, 'said').observer.afterStep()
  })

  test('what has stood open since it was said is not said again', () => {
    const plan = { openFindings: [finding] }
    const dispositions = [{ finding, verb: 'still_present' }]
    const { observer } = concluded({ dispositions }, [finding], plan, 'said')
    expectBreach(observer.afterStep, 'I6', /A finding that was said is said again/)
    concluded({ dispositions }, [finding], plan, 'withdrawn').observer.afterStep()
  })

  test('the summary counts what was concluded', () => {
    const { world, observer } = observed('I6')
    goOn(world, 'completed')
    const counts = { critical: 0, important: 2, suggestions: 0, rejected: 0, merged: 0 }
    steps.concluded(world)
    observer.afterStep()
    world.document('summary', { kind: 'summary', body: `<!-- muster:v1 data ${JSON.stringify({ counts })} -->` })
    world.document('again', JSON.parse(world.documents.get('conclusion') ?? ''))
    world.change(...keys.run, { state: 'concluded', attempt: 2, conclusion: 'again', version: 9 })
    expectBreach(observer.afterStep, 'I6', /The summary counts other findings/)
  })
})
