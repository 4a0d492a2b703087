import { describe, expect, it } from 'vitest'
import type { Coverage } from '../../../shared/findings/coverage.ts'
import type { Finding, Location } from '../../../shared/findings/finding.ts'
import type { LensOutcome } from '../../../shared/verdict/conclusion.ts'
import { type ReconciliationFacts, reconcileFindings } from '../../../shared/verdict/reconciliation.ts'

const A = 'a'.repeat(40)
const B = 'b'.repeat(40)

function finding(name: string, changes: Partial<Finding> = {}): Finding {
  return {
    fingerprint: name,
    lens: 'secrets',
    rule: 'rule',
    severity: 'high',
    title: name,
    why: 'Because.',
    clears: 'Change it.',
    location: lines('src/a.ts'),
    quote: 'code',
    fenced: false,
    originHead: A,
    cut: false,
    ...changes,
  }
}

function lines(path: string, side: 'LEFT' | 'RIGHT' = 'RIGHT', line = 3): Location {
  return { kind: 'lines', path, side, startLine: line, line, inDiff: true }
}

function outcome(coverage: readonly Coverage[], state: LensOutcome['state'] = 'read'): LensOutcome {
  return { lens: 'secrets', state, findings: 0, rejected: 0, coverage }
}

const full = (path: string): Coverage => ({ path, state: 'full' })
const changed = (path: string) => ({ path, status: 'modified' as const, hunks: [] })

function verbs(open: readonly Finding[], changes: Partial<ReconciliationFacts> = {}) {
  return reconcileFindings({
    open,
    announced: open.map(({ fingerprint }) => fingerprint),
    sameHead: [],
    found: [],
    rejected: [],
    lenses: [outcome([full('src/a.ts')])],
    files: [changed('src/a.ts')],
    filesCut: false,
    ...changes,
  })
}

describe('an open finding at a newer head', () => {
  it('FI1: a finding found again is still present, keeps its first head, and takes its new location', () => {
    const again = finding('one', { originHead: B, location: lines('src/a.ts', 'RIGHT', 40), severity: 'critical' })
    const { dispositions, standing, announcedBefore } = verbs([finding('one')], { found: [again] })
    expect(dispositions.map(({ verb }) => verb)).toEqual(['still_present'])
    expect(standing).toEqual([{ ...again, originHead: A }])
    expect(announcedBefore).toEqual(['one'])
  })

  it('a finding that its lens doesn’t repeat in a file read in full is fixed', () => {
    const { dispositions, standing } = verbs([finding('one')])
    expect(dispositions.map(({ verb }) => verb)).toEqual(['fixed'])
    expect(standing).toEqual([])
  })

  it('FI5: a finding in a file that its lens did not read stays open, as not looked at', () => {
    const { dispositions, standing, announcedBefore } = verbs([finding('one')], { lenses: [outcome([])] })
    expect(dispositions.map(({ verb }) => verb)).toEqual(['not_looked_at'])
    expect(standing.map(({ fingerprint }) => fingerprint)).toEqual(['one'])
    expect(announcedBefore).toEqual(['one'])
  })

  it.each(['partial', 'not_read'] as const)('FI5: a finding in a file whose coverage is %s stays open', (state) => {
    expect(verbs([finding('one')], { lenses: [outcome([{ path: 'src/a.ts', state }])] }).standing).toHaveLength(1)
  })

  it('FI5: a finding stays open if only another lens read its file in full', () => {
    const other: LensOutcome = { ...outcome([full('src/a.ts')]), lens: 'workflows' }
    expect(verbs([finding('one')], { lenses: [other] }).standing).toHaveLength(1)
  })

  it('a lens that failed on another part has still read its file', () => {
    const failed = outcome([full('src/a.ts'), { path: 'src/b.ts', state: 'not_read' }], 'failed')
    expect(verbs([finding('one')], { lenses: [failed] }).dispositions[0]?.verb).toBe('fixed')
  })

  it('FI3: of two findings on a line, the missing finding is fixed and the other stays open', () => {
    const two = finding('two', { location: lines('src/b.ts') })
    const { dispositions, standing } = verbs([finding('one'), two], {
      files: [changed('src/a.ts'), changed('src/b.ts')],
    })
    expect(dispositions.map(({ verb }) => verb)).toEqual(['fixed', 'not_looked_at'])
    expect(standing).toEqual([two])
  })

  it('a finding in a removed file is no longer applicable, unless it is about the removed lines', () => {
    const files = [{ path: 'src/a.ts', status: 'removed' as const, hunks: [] }]
    const left = finding('two', { location: lines('src/a.ts', 'LEFT') })
    const { dispositions } = verbs([finding('one'), left], { files, lenses: [] })
    expect(dispositions.map(({ verb }) => verb)).toEqual(['no_longer_applicable', 'not_looked_at'])
  })

  it('a finding in a file outside of the diff is no longer applicable, unless the list of files was cut', () => {
    expect(verbs([finding('one')], { files: [], lenses: [] }).dispositions[0]?.verb).toBe('no_longer_applicable')
    const cut = verbs([finding('one')], { files: [], lenses: [], filesCut: true })
    expect(cut.dispositions[0]?.verb).toBe('not_looked_at')
    expect(cut.standing).toHaveLength(1)
  })

  it('a finding in a renamed file stays open until its lens reads the new path', () => {
    const files = [{ path: 'src/new.ts', previousPath: 'src/a.ts', status: 'renamed' as const, hunks: [] }]
    expect(verbs([finding('one')], { files, lenses: [outcome([])] }).dispositions[0]?.verb).toBe('not_looked_at')
    const seen = verbs([finding('one')], { files, lenses: [outcome([full('src/new.ts')])] })
    expect(seen.dispositions[0]?.verb).toBe('no_longer_applicable')
  })

  it('a finding about the pull request as a whole is fixed only if its lens read everything', () => {
    const whole = finding('one', { location: { kind: 'pull_request' } })
    expect(verbs([whole]).dispositions[0]?.verb).toBe('fixed')
    expect(verbs([whole], { lenses: [outcome([], 'failed')] }).dispositions[0]?.verb).toBe('not_looked_at')
  })
})

describe('standing findings', () => {
  it('standing findings are worst first, new and old together, each once, and only old findings were announced', () => {
    const found = [finding('low', { severity: 'low' }), finding('top', { severity: 'critical' }), finding('top')]
    const old = finding('old', { location: lines('src/b.ts') })
    const { standing, announcedBefore } = verbs([old], { found, files: [changed('src/a.ts'), changed('src/b.ts')] })
    expect(standing.map(({ fingerprint, severity }) => [fingerprint, severity])).toEqual([
      ['top', 'critical'],
      ['old', 'high'],
      ['low', 'low'],
    ])
    expect(announcedBefore).toEqual(['old'])
  })

  it('IL2: of open findings, only announced findings count as announced before', () => {
    const two = finding('two', { location: lines('src/b.ts') })
    const files = [changed('src/a.ts'), changed('src/b.ts')]
    const { standing, announcedBefore } = verbs([finding('one'), two], {
      announced: ['two', 'gone'],
      lenses: [],
      files,
    })
    expect(standing.map(({ fingerprint }) => fingerprint)).toEqual(['one', 'two'])
    expect(announcedBefore).toEqual(['two'])
  })
})
