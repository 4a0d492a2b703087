/** I2 and I6: a run adopts exactly the results of its completed reviews, and loses none on the way. */
import { describe, expect, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { commentBody, finding, goOn, HEAD, item, keys, MARKER, type Synthetic, steps } from './synthetic.ts'

const other = { ...finding, fingerprint: 'e'.repeat(64) }
const done = { state: 'completed', result: 'result', findings: 1, blocking: 0, until: undefined }

describe('I2', () => {
  test.each<[string, (world: Synthetic) => void, RegExp]>([
    [
      'a review without a lease is not completed',
      (world) => world.change(...keys.review, { state: 'waiting' }),
      /A review was completed that was not leased/,
    ],
    [
      'a lease without an owner completes nothing',
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
    ['by another owner', { owner: 'w2' }],
  ])('a review is not completed %s', (_name, members) => {
    const { world, observer } = observed('I2')
    goOn(world, 'leased')
    world.document('result', {})
    world.change(...keys.review, { ...done, ...members })
    expectBreach(observer.afterStep, 'I2', /A review was completed by other than its holder/)
  })

  test('a review names only a stored result', () => {
    const { world, observer } = observed('I2')
    goOn(world, 'leased')
    world.change(...keys.review, done)
    expectBreach(observer.afterStep, 'I2', /A review names a result that is not stored/)
  })

  test('a run adopts only findings of its own reviews', () => {
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
  /** A world whose run has concluded with the given members, findings and plan; the message is in the given state. */
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

  test('posted, merged and rejected findings add up', () => {
    const { observer } = concluded({ merged: 1 }, [finding, finding])
    observer.afterStep()
    expect(observer.counts.I6).toBe(1)
  })

  test.each<[string, object, object[], RegExp]>([
    ['a finding is lost', { findings: [] }, [finding], /A finding is neither posted, rejected nor merged/],
    ['merged findings are miscounted', { merged: 2 }, [finding, finding], /Merged findings are miscounted/],
    ['a finding is posted twice', { findings: [finding, finding] }, [finding], /A finding is posted twice/],
    [
      'a rejected finding is lost',
      { lenses: [{ lens: 'correctness', state: 'read', findings: 1, rejected: 1 }] },
      [finding],
      /A conclusion counts other findings/,
    ],
    ['a rejected finding is added', { rejected: [{}] }, [finding], /Rejected findings were lost, or added/],
    [
      'a lens counts wrong findings',
      { lenses: [{ lens: 'correctness', state: 'read', findings: 3, rejected: 0 }] },
      [finding],
      /A conclusion counts other findings/,
    ],
  ])('a conclusion is a breach if %s', (_name, members, findings, sentence) => {
    const { observer } = concluded(members, findings)
    expectBreach(observer.afterStep, 'I6', sentence)
  })

  test('a review of a failed lens may complete after the conclusion', () => {
    const lenses = [{ lens: 'correctness', state: 'failed', findings: 0, rejected: 0 }]
    concluded({ findings: [], lenses }).observer.afterStep()
  })

  test('every open finding has a disposition', () => {
    const plan = { openFindings: [other] }
    expectBreach(concluded({}, [finding], plan).observer.afterStep, 'I6', /An open finding was not answered/)
    const dispositions = [{ finding: other, verb: 'fixed' }]
    concluded({ dispositions }, [finding], plan).observer.afterStep()
  })

  test('a new finding with lines is in the run’s message', () => {
    const { observer } = concluded({ findings: [finding, other] }, [finding, other])
    expectBreach(observer.afterStep, 'I6', /A finding with lines is in no message/)
  })

  test('an announced finding stands in a review that was said', () => {
    const members = { announcedBefore: [finding.fingerprint] }
    const { observer } = concluded(members)
    expectBreach(observer.afterStep, 'I6', /A finding counts as said and stands in no review/)
    concluded(members, [finding], {}, 'said').observer.afterStep()
  })

  test('a finding announced before and open since is not announced again', () => {
    const plan = { openFindings: [finding] }
    const dispositions = [{ finding, verb: 'still_present' }]
    const { observer } = concluded({ dispositions }, [finding], plan, 'said')
    expectBreach(observer.afterStep, 'I6', /A finding that was said is said again/)
    concluded({ dispositions }, [finding], plan, 'withdrawn').observer.afterStep()
  })

  test('the counts of the summary equal the conclusion', () => {
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
