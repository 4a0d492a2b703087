/** The table of transitions of a review on its way to its pull request. */
import { describe, expect, it } from 'vitest'
import { Retry } from '../../../shared/base/errors.ts'
import { markerOf, type ReviewMessage } from '../../../shared/publishing/github-payloads.ts'
import { allInBody, allInline } from '../../../shared/publishing/inline-bisection.ts'
import { type Answered, afterStep, firstStep, type Known } from '../../../shared/publishing/review-steps.ts'
import { versionOf } from '../../../shared/publishing/review-version.ts'

const marker = markerOf.review('run', 'plan')
const comment = (line: number) => ({ path: 'a.ts', side: 'RIGHT', line, body: `About line ${line}.` }) as const
const message: ReviewMessage = {
  kind: 'review',
  marker,
  head: 'head',
  event: 'REQUEST_CHANGES',
  body: `Text\n\n${marker}`,
  comments: [comment(1), comment(2), comment(3), comment(4)],
}
const { known } = firstStep(message, undefined)
const whole = versionOf(message, known.placing.inBody)
const ours = { id: 7, body: whole.body }
const said = { state: 'said', reviewId: 7, repeated: 0 } as const
const unanswered = new Retry('github_unreachable', 'no answer', 5_000, { outcomeUnknown: true })

const nothing = { said: undefined, pending: [] }
const list = { name: 'list', answer: nothing } as const
const readBack = { name: 'read_back', unlisted: unanswered } as const
const check = { name: 'check', ours: undefined, others: [], answer: 'go' } as const
const deleteOurs = { name: 'delete_ours', id: 7 } as const
const create = { name: 'create', body: whole.body, comments: [] } as const
const submit = { name: 'submit', ours, event: 'COMMENT' } as const
const created = { state: 'created', id: 7 } as const
const refused = (sentence: string) => ({ state: 'refused', sentence }) as const

const end = (outcome: object) => ({ name: 'end', outcome })
const unknown = (code: string) => end({ state: 'unknown', because: expect.objectContaining({ code }) })

describe('the next step', () => {
  it.each<[promise: string, Partial<Known>, Answered, step: object]>([
    ['a submitted review with the marker is said', {}, { ...list, answer: { said, pending: [ours] } }, end(said)],
    [
      'a pending review with this payload is adopted',
      {},
      { ...list, answer: { said: undefined, pending: [ours] } },
      { name: 'check', ours, others: [] },
    ],
    [
      'a pending review with another payload is in the way',
      {},
      { ...list, answer: { said: undefined, pending: [{ id: 9, body: message.body }] } },
      { name: 'check', ours: undefined, others: [9] },
    ],
    [
      'a deleted review that the list still shows is not in the way',
      { deleted: [9] },
      { ...list, answer: { said: undefined, pending: [{ id: 9, body: 'other' }] } },
      { name: 'check', ours: undefined, others: [] },
    ],
    ['a created review that the list lacks stays ours', { created: ours }, list, { name: 'check', ours, others: [] }],
    ['an unanswered create that the list lacks gets time', {}, { ...list, unanswered }, unknown('github_unreachable')],
    [
      'an unanswered create that the list shows is adopted',
      {},
      { ...list, unanswered, answer: { said: undefined, pending: [ours] } },
      { name: 'check', ours, others: [] },
    ],
    [
      'F7: a refused request for changes becomes a comment',
      { isRefused: true, created: ours },
      list,
      { name: 'check' },
    ],
    [
      'a refused comment is not followed by another review',
      { isRefused: true, event: 'COMMENT' },
      list,
      unknown('not_shown'),
    ],
    ['a submitted review that is read back is said', {}, { ...readBack, answer: { said, pending: [] } }, end(said)],
    [
      'a submitted review that the list lacks is unknown',
      {},
      { ...readBack, answer: nothing },
      unknown('github_unreachable'),
    ],
    ['a stop without a review of ours is the end', {}, { ...check, answer: 'stop' }, end({ state: 'stopped' })],
    [
      'a stop leaves the reviews of other messages alone',
      {},
      { ...check, others: [9], answer: 'stop' },
      end({ state: 'stopped' }),
    ],
    ['a stop deletes our pending review', {}, { ...check, ours, answer: 'stop' }, deleteOurs],
    [
      'reviews in the way are deleted one by one',
      {},
      { ...check, ours, others: [8, 9] },
      { name: 'delete_other', id: 8, rest: [9] },
    ],
    ['a missing review is created with its digest', {}, check, { name: 'create', body: whole.body }],
    ['our review is submitted by id', {}, { ...check, ours }, { name: 'submit', ours, event: 'REQUEST_CHANGES' }],
    [
      'IL2: a refused delete is read back as a submit',
      {},
      { ...deleteOurs, answer: 'not_accepted' },
      { name: 'read_back' },
    ],
    [
      'a deleted review in the way is followed by the next',
      {},
      { name: 'delete_other', id: 8, rest: [9], answer: 'gone' },
      { name: 'delete_other', id: 9 },
    ],
    [
      'the last review in the way is followed by a list',
      {},
      { name: 'delete_other', id: 9, rest: [], answer: unanswered },
      { name: 'list' },
    ],
    ['an unanswered create is listed', {}, { ...create, answer: unanswered }, { name: 'list', unanswered }],
    ['a created review is listed', {}, { ...create, answer: created }, { name: 'list' }],
    [
      'AW79: a created review with more in its body than needed is deleted',
      { placing: { ...allInline(4), inBody: { from: 2, to: 4 } } },
      { ...create, answer: created },
      { name: 'delete_other', id: 7, rest: [] },
    ],
    [
      'a pending review that the list lacked is listed',
      {},
      { ...create, answer: refused('only one pending review') },
      { name: 'list' },
    ],
    ['a submitted review is read back', {}, { ...submit, answer: 'submitted' }, { name: 'read_back' }],
    [
      'an unanswered submit is read back',
      {},
      { ...submit, answer: unanswered },
      { name: 'read_back', unlisted: unanswered },
    ],
    ['a refused submit is listed', {}, { ...submit, answer: 'not_accepted' }, { name: 'list' }],
    ['IL14: a missing review is listed', {}, { ...submit, answer: 'gone' }, { name: 'list' }],
    ['the last list is followed by no other', { readsLeft: 0 }, { ...create, answer: created }, unknown('not_shown')],
  ])('%s', (_promise, changes, answered, step) => {
    expect(afterStep({ ...known, ...changes }, answered).step).toMatchObject(step)
  })
})

describe('the facts after a step', () => {
  const knownAfter = (answered: Answered, changes: Partial<Known> = {}) =>
    afterStep({ ...known, ...changes }, answered).known

  it('AW73: the review of an earlier call is ours before a list shows it', () => {
    expect(firstStep(message, 7).known.created).toEqual({ id: 7, body: undefined })
  })

  it('a review that GitHub deleted is ours no more', () => {
    const deleted = { deleted: [7], created: undefined }
    expect(knownAfter({ ...deleteOurs, answer: 'deleted' }, { created: ours })).toMatchObject(deleted)
    expect(knownAfter({ ...deleteOurs, answer: unanswered }, { created: ours })).toMatchObject({
      deleted: [],
      created: ours,
    })
    expect(knownAfter({ ...submit, answer: 'gone' }, { created: ours })).toMatchObject({ created: undefined })
  })

  it('AW79: a refused place moves half of the comments into the body, any other refusal all', () => {
    const placed = (sentence: string) => knownAfter({ ...create, answer: refused(sentence) }).placing.inBody
    expect(placed('Line could not be resolved')).toEqual({ from: 2, to: 4 })
    expect(placed('Body is odd')).toEqual(allInBody(4).inBody)
  })

  it('A13: a refused review without inline comments is dead, with the sentence of GitHub', () => {
    const work = () => knownAfter({ ...create, answer: refused('No commit found') }, { placing: allInBody(4) })
    expect(work).toThrow(expect.objectContaining({ name: 'dead', message: expect.stringContaining('No commit found') }))
  })
})
