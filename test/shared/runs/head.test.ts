import { describe, expect, it } from 'vitest'
import { HEAD_VISIBLE_WITHIN_MS } from '../../../shared/base/limits.ts'
import { headVisibility } from '../../../shared/runs/head.ts'

const run = { head: 'mine', eventAt: 1_000_000, acceptedAt: 2_000_000 }
const LAST_MOMENT = run.acceptedAt + HEAD_VISIBLE_WITHIN_MS

const seen = (sha: string, updatedAt: number, now = run.acceptedAt) =>
  headVisibility({ head: { sha }, updatedAt }, run, now)

describe('headVisibility', () => {
  it('the head of the run is live, however old the view', () => {
    for (const updatedAt of [0, run.eventAt, run.eventAt + 1]) expect(seen('mine', updatedAt, LAST_MOMENT)).toBe('live')
  })

  it('IL1: only a view of a later event proves a moved head', () => {
    expect(seen('other', run.eventAt + 1)).toBe('moved')
    expect(seen('other', run.eventAt)).toBe('not_yet')
    expect(seen('other', run.eventAt - 1)).toBe('not_yet')
  })

  it('PL8: the wait ends: within the same second GitHub decides, and an earlier view is no answer', () => {
    expect(seen('other', run.eventAt, LAST_MOMENT - 1)).toBe('not_yet')
    expect(seen('other', run.eventAt, LAST_MOMENT)).toBe('moved')
    expect(seen('other', run.eventAt - 1, LAST_MOMENT - 1)).toBe('not_yet')
    expect(seen('other', run.eventAt - 1, LAST_MOMENT)).toBe('not_in_time')
  })
})
