import { describe, expect, it } from 'vitest'
import type { Severity } from '../../../shared/findings/severity.ts'
import type { LensOutcome } from '../../../shared/verdict/conclusion.ts'
import { type VerdictFacts, verdictOf } from '../../../shared/verdict/verdict.ts'

const read: LensOutcome = {
  lens: 'secrets',
  state: 'read',
  findings: 0,
  rejected: 0,
  coverage: [{ path: 'a.ts', state: 'full' }],
}

function verdict(changes: Partial<VerdictFacts> = {}, ...severities: Severity[]) {
  return verdictOf({
    lenses: [read],
    planned: [{ lens: 'secrets', paths: ['a.ts'] }],
    standing: severities.map((severity) => ({ severity })),
    diff: 'readable',
    ...changes,
  })
}

describe('the first matching verdict', () => {
  it('without findings, with everything read: pass', () => {
    expect(verdict()).toEqual({ verdict: 'pass', incompleteReasons: [] })
  })

  it.each(['critical', 'high'] as const)('a %s finding stands: changes requested', (severity) => {
    expect(verdict({}, 'low', severity).verdict).toBe('changes_requested')
  })

  it.each(['medium', 'low'] as const)('only a %s finding stands: concerns', (severity) => {
    expect(verdict({}, severity).verdict).toBe('concerns')
  })

  it('AD1: one lens is clean and another blocks: changes requested', () => {
    const other: LensOutcome = { ...read, lens: 'workflows', findings: 1 }
    expect(verdict({ lenses: [read, other] }, 'high').verdict).toBe('changes_requested')
  })
})

describe('not having looked is never "nothing found"', () => {
  it('LE13: every lens failed: incomplete, with each reason and remedy', () => {
    const failed: LensOutcome = { ...read, state: 'failed', reason: 'the analyzer crashed', remedy: 'Push again' }
    const { verdict: judged, incompleteReasons } = verdict({ lenses: [failed] })
    expect(judged).toBe('incomplete')
    expect(incompleteReasons).toEqual(['The lens secrets failed: the analyzer crashed. Push again.'])
  })

  it('no lens is active: incomplete', () => {
    expect(verdict({ lenses: [], planned: [] }).verdict).toBe('incomplete')
  })

  it('a lens without a model: incomplete, also with a blocking finding', () => {
    const unread: LensOutcome = { ...read, lens: 'correctness', state: 'not_read', reason: 'no model is configured' }
    expect(verdict({ lenses: [read, unread] }, 'critical')).toEqual({
      verdict: 'incomplete',
      incompleteReasons: ['The lens correctness did not read: no model is configured.'],
    })
  })

  it('H4: a planned file that a lens read in part, skipped, or left out: incomplete, named', () => {
    const partly: LensOutcome = {
      ...read,
      coverage: [
        { path: 'a.ts', state: 'full' },
        { path: 'b.ts', state: 'partial' },
      ],
    }
    const { verdict: judged, incompleteReasons } = verdict({
      lenses: [partly],
      planned: [{ lens: 'secrets', paths: ['a.ts', 'b.ts', 'c.ts'] }],
    })
    expect(judged).toBe('incomplete')
    expect(incompleteReasons).toEqual(['The lens secrets did not read 2 files in full: b.ts, c.ts.'])
  })

  it('a file in two parts counts as read only if both parts were read', () => {
    const twice: LensOutcome = {
      ...read,
      coverage: [
        { path: 'a.ts', state: 'not_read' },
        { path: 'a.ts', state: 'full' },
      ],
    }
    expect(verdict({ lenses: [twice] }).verdict).toBe('incomplete')
  })

  it.each(['empty', 'too_large'] as const)('AD5: a diff that is %s: incomplete, never pass', (diff) => {
    expect(verdict({ diff }).verdict).toBe('incomplete')
    expect(verdict({ diff }).incompleteReasons).toHaveLength(1)
  })
})
