/** The conclusion of a run, also of a run whose model was throttled for too long. */
import { describe, expect, it } from 'vitest'
import { conclude, type ReviewWithResult } from '../../../../functions/conclude/core/conclude.ts'
import { makePlan, type PlanFacts } from '../../../../functions/plan/core/plan.ts'
import { fileChangeOf } from '../../../../shared/findings/diff.ts'
import type { Finding } from '../../../../shared/findings/finding.ts'
import { impatience } from '../../../../shared/fleet/throttling.ts'
import type { ReviewResult } from '../../../../shared/runs/review-result.ts'
import { DEFAULT_CONFIGURATION } from '../../../../shared/verdict/config.ts'
import type { Plan } from '../../../../shared/verdict/plan.ts'
import { runOf, sha } from '../../../shared/samples.ts'
import { finding } from '../conclusions.ts'

const run = runOf()
const facts: PlanFacts = {
  run,
  thread: {
    repositoryId: 7,
    number: 42,
    head: run.head,
    baseRef: 'main',
    series: 1,
    round: 0,
    nextSequence: 1,
    version: 1,
  },
  pullRequest: { title: 'Widgets', body: 'Why', author: 'a-person' },
  baseSha: sha('base'),
  mergeBase: sha('merge base'),
  configuration: DEFAULT_CONFIGURATION,
  configurationProblems: [],
  configurationDigest: 'c1',
  template: undefined,
  files: [{ path: 'src/archive.js', status: 'added', additions: 1, deletions: 0, blob: sha('a'), hunks: [] }],
  filesCut: false,
  lastConclusion: undefined,
  deploymentModel: { model: 'a', baseUrl: 'https://models.example' },
  now: 5,
}
const plan = makePlan(facts)
const LISTED = { filename: 'src/archive.js', status: 'added', additions: 1, deletions: 0 }
const givenUp = { state: 'failed', reason: impatience('model/a', 3_600_000) } as const

/** Every planned review, read with these findings or given up. */
function seen(findings: readonly Finding[], throttled: readonly string[]): ReviewWithResult[] {
  return plan.reviews.map(({ lens, part, paths }) => {
    if (throttled.includes(lens)) return { review: { lens, part, ...givenUp }, result: undefined }
    const coverage = paths.map((path) => ({ path, state: 'full' }) as const)
    const ofLens = lens === 'secrets' ? findings : []
    return {
      review: { lens, part, state: 'completed' },
      result: { lens, part, findings: ofLens, rejected: [], coverage },
    }
  })
}

describe('conclude', () => {
  it('L2: a lens whose model was throttled too long makes the verdict incomplete, with reason and remedy', () => {
    const { verdict, incompleteReasons, lenses } = conclude(plan, seen([], ['correctness']), [])
    expect(verdict).toBe('incomplete')
    expect(incompleteReasons).toEqual([
      expect.stringMatching(/^The lens correctness failed: model_throttled: a was throttled .* Then ask again/),
    ])
    expect(lenses.find(({ lens }) => lens === 'correctness')).toMatchObject({ state: 'failed' })
  })

  it('LE13: a run whose lenses all failed is incomplete, never a pass', () => {
    const all = [...new Set(plan.reviews.map(({ lens }) => lens))]
    const { verdict, incompleteReasons } = conclude(plan, seen([], all), [])
    expect(verdict).toBe('incomplete')
    expect(incompleteReasons).toHaveLength(all.length)
  })

  it('a lens that read only one part has failed, the verdict is incomplete, and the findings of that part stand', () => {
    const parts = [0, 1].map((part) => ({ lens: 'secrets' as const, part, paths: ['src/archive.js'] }))
    const found = finding({ severity: 'medium' })
    const [first] = seen([found], [])
    if (!first?.result) throw new Error('Expected a result')
    const read: ReviewWithResult = {
      review: { lens: 'secrets', part: 0, state: 'completed' },
      result: { ...first.result, lens: 'secrets', part: 0, findings: [found] },
    }
    const lost: ReviewWithResult = { review: { lens: 'secrets', part: 1, state: 'ended' }, result: undefined }
    const { verdict, lenses, findings } = conclude({ ...plan, reviews: parts }, [read, lost], [])
    expect(verdict).toBe('incomplete')
    expect(lenses.find(({ lens }) => lens === 'secrets')).toMatchObject({ state: 'failed', findings: 1 })
    expect(findings).toEqual([found])
  })

  it('J5: without a second reading, blocking findings stand as their lenses reported them', () => {
    const blocking = finding({ severity: 'critical' })
    const adjudication: ReviewWithResult = { review: { lens: 'adjudication', part: 0, ...givenUp }, result: undefined }
    const conclusion = conclude(plan, [...seen([blocking], []), adjudication], [])
    expect(conclusion).toMatchObject({ verdict: 'changes_requested', adjudication: 'not_read', findings: [blocking] })
  })

  describe('at the same head once more, asked by a comment', () => {
    const patch = '@@ -0,0 +1 @@\n+locks.release(user)'
    const file = fileChangeOf({ ...LISTED, sha: sha('a'), patch })
    const first = makePlan({ ...facts, files: [file] })
    const fault = claimed({ rule: 'security', severity: 'critical', fenced: true })
    const before = conclude(first, read(first, { findings: [fault] }), [])
    const again = makePlan({ ...facts, files: [file], lastConclusion: before })

    it('a fenced finding stands at the same head if its model falls silent or misquotes the code', () => {
      const misquoted = { ...fault, path: file.path, reason: 'quote_not_found' as const }
      for (const reply of [{}, { rejected: [misquoted] }]) {
        const { verdict, findings, adjudication, dispositions } = conclude(again, read(again, reply), [
          fault.fingerprint,
        ])
        expect({ verdict, findings, adjudication }).toEqual({
          verdict: 'changes_requested',
          findings: [fault],
          adjudication: 'passed_through',
        })
        // The finding is new at this head, so it needs no disposition.
        expect(dispositions).toEqual([])
      }
    })

    it('a finding without a fence stands at the same head, and is fixed at a newer head', () => {
      const unfenced = claimed({ severity: 'medium', fenced: false })
      const earlier = conclude(first, read(first, { findings: [unfenced] }), [])
      const here = makePlan({ ...facts, files: [file], lastConclusion: earlier })
      expect(conclude(here, read(here, {}), []).verdict).toBe('concerns')
      const newer = makePlan({ ...facts, run: { ...run, head: sha('newer') }, files: [file], lastConclusion: earlier })
      expect(conclude(newer, read(newer, {}), [])).toMatchObject({ verdict: 'pass', dispositions: [{ verb: 'fixed' }] })
    })

    it('FI5: the first look at a head fixes a finding that no lens had looked at there', () => {
      const unfenced = claimed({ severity: 'medium', fenced: false, originHead: sha('older') })
      const unseen = {
        ...before,
        findings: [unfenced],
        dispositions: [{ finding: unfenced, verb: 'not_looked_at' as const }],
      }
      const here = makePlan({ ...facts, files: [file], lastConclusion: unseen })
      expect(conclude(here, read(here, {}), [])).toMatchObject({ verdict: 'pass', dispositions: [{ verb: 'fixed' }] })
    })

    function claimed(changes: Partial<Finding>): Finding {
      const location = { kind: 'lines', path: file.path, side: 'RIGHT', startLine: 1, line: 1, inDiff: true } as const
      return finding({ lens: 'correctness', quote: 'locks.release(user)', location, originHead: run.head, ...changes })
    }
  })
})

/** Every planned review, read in full, with this reply of the model. */
function read(planned: Plan, reply: Partial<Pick<ReviewResult, 'findings' | 'rejected'>>): ReviewWithResult[] {
  return planned.reviews.map(({ lens, part, paths }) => ({
    review: { lens, part, state: 'completed' },
    result: {
      lens,
      part,
      findings: [],
      rejected: [],
      coverage: paths.map((path) => ({ path, state: 'full' })),
      ...(lens === 'correctness' ? reply : {}),
    },
  }))
}
