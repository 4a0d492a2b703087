import { describe, expect, it } from 'vitest'
import { DELIVERIES_KEPT } from '../../../shared/base/limits.ts'
import { isLive, meaningOf, type RunState, remember } from '../../../shared/runs/run.ts'
import { requestOf, runOf } from '../samples.ts'

const STATES: readonly RunState[] = ['accepted', 'running', 'concluded', 'held', 'ending', 'ended']

describe('meaningOf', () => {
  it.each(STATES)('IL15, I9: a known delivery is a replay for a run in state %s', (state) => {
    expect(meaningOf(runOf({ state, deliveries: ['d1', 'd2'] }), requestOf(), 'd2')).toBe('replay')
  })

  it.each(STATES)(
    'LE15: another payload under the same id is a conflict for a run in state %s, replayed or not',
    (state) => {
      const other = requestOf({ payloadDigest: 'another' })
      expect(meaningOf(runOf({ state }), other, 'd1')).toBe('conflict')
      expect(meaningOf(runOf({ state }), other, 'd9')).toBe('conflict')
    },
  )

  it.each(['accepted', 'running', 'concluded', 'held'] as const)(
    'D7: a new delivery joins a run in state %s',
    (state) => {
      expect(meaningOf(runOf({ state }), requestOf(), 'd9')).toBe('join')
    },
  )

  it('LE16: a new delivery asks an ended run for another attempt', () => {
    expect(meaningOf(runOf({ state: 'ended' }), requestOf(), 'd9')).toBe('raise')
  })

  it('a new delivery to an ending run asks for the attempt after the end', () => {
    expect(meaningOf(runOf({ state: 'ending' }), requestOf(), 'd9')).toBe('raise_when_ended')
  })
})

describe('remember', () => {
  it('keeps the newest deliveries, each once, and no more than the limit', () => {
    let deliveries: string[] = []
    for (let index = 0; index < DELIVERIES_KEPT + 5; index += 1) deliveries = remember(deliveries, `d${index}`)
    expect(deliveries).toHaveLength(DELIVERIES_KEPT)
    expect(deliveries.at(-1)).toBe(`d${DELIVERIES_KEPT + 4}`)
    expect(remember(deliveries, 'd10').filter((id) => id === 'd10')).toHaveLength(1)
    expect(remember(deliveries, 'd10').at(-1)).toBe('d10')
  })
})

describe('isLive', () => {
  it('an ending or ended run can change nothing on GitHub', () => {
    expect(STATES.filter(isLive)).toEqual(['accepted', 'running', 'concluded', 'held'])
  })
})
