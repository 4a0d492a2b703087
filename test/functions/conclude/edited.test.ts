/** Conclusions after an edit of the description: a file without a reading stays unread (PR6). */
import { describe, expect, it } from 'vitest'
import { checkRunOf } from '../../../functions/conclude/core/check-run.ts'
import { conclude, type ReviewWithResult } from '../../../functions/conclude/core/conclude.ts'
import { labelOf } from '../../../functions/conclude/core/label.ts'
import { summaryOf } from '../../../functions/conclude/core/summary.ts'
import { makePlan, type PlanFacts } from '../../../functions/plan/core/plan.ts'
import type { FileChange } from '../../../shared/findings/diff.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { DEFAULT_CONFIGURATION } from '../../../shared/verdict/config.ts'
import { runOf, sha } from '../../shared/samples.ts'
import { finding } from './conclusions.ts'

const CEILING = DEFAULT_CONFIGURATION.rounds.ceiling
const WITHOUT_MODELS = {
  ...DEFAULT_CONFIGURATION,
  lenses: { ...DEFAULT_CONFIGURATION.lenses, correctness: 'off' },
} as const

function file(path: string, lines = 1): FileChange {
  const added = Array.from({ length: lines }, (_, at) => ({ kind: 'added', text: 'x', newLine: at + 1 }) as const)
  const hunks = [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: lines, lines: added }]
  return { path, status: 'added', additions: lines, deletions: 0, blob: sha(path), hunks }
}

interface Step {
  readonly last: Conclusion | undefined
  readonly head: string
  readonly rounds?: number
  readonly isEdit?: true
  readonly files?: readonly FileChange[]
  readonly configuration?: PlanFacts['configuration']
  /** Findings of all lenses, each for its own lens. */
  readonly found?: readonly Finding[]
  /** The name of a failing lens. */
  readonly fails?: string
}

/** The conclusion of a run whose lenses read all given files. */
function concluded({ last, head, rounds = 0, isEdit, files, configuration, found = [], fails }: Step): Conclusion {
  const run = runOf({ head, ...(isEdit ? { kind: 'analyzers', cause: `text:${head}` } : {}) })
  const plan = makePlan({
    run,
    thread: {
      repositoryId: 7,
      number: 42,
      head,
      baseRef: 'main',
      series: 1,
      round: rounds,
      nextSequence: 1,
      version: 1,
    },
    pullRequest: { title: 'Widgets', body: 'Why', author: 'a-person' },
    baseSha: sha('base'),
    mergeBase: sha('merge base'),
    configuration: configuration ?? DEFAULT_CONFIGURATION,
    configurationProblems: [],
    configurationDigest: 'c1',
    template: undefined,
    files: files ?? [file('src/a.ts')],
    filesCut: false,
    lastConclusion: last,
    deploymentModel: { model: 'a-model', baseUrl: 'https://models.example' },
    now: 5,
  })
  const seen = plan.reviews.map(({ lens, part, paths }): ReviewWithResult => {
    if (lens === fails) return { review: { lens, part, state: 'failed' }, result: undefined }
    const findings = found.filter((one) => one.lens === lens)
    const coverage = paths.map((path) => ({ path, state: 'full' }) as const)
    return {
      review: { lens, part, state: 'completed' },
      result: { lens, part, findings, rejected: [], coverage },
    }
  })
  return conclude(plan, seen, last?.findings.map(({ fingerprint }) => fingerprint) ?? [])
}

const location = { kind: 'lines', path: 'src/a.ts', side: 'RIGHT', startLine: 10, line: 10, inDiff: true } as const
const openFinding = finding({ lens: 'correctness', severity: 'medium', location, originHead: sha('1') })
const verbs = ({ dispositions }: Conclusion) => dispositions.map(({ verb }) => verb)

describe('an edited description after the last round', () => {
  const lastRound = (configuration: PlanFacts['configuration'], found: readonly Finding[]) =>
    concluded({ last: undefined, head: sha('3'), rounds: CEILING - 1, configuration, found })
  const push = (configuration: PlanFacts['configuration'], found: readonly Finding[]) =>
    concluded({ last: lastRound(configuration, found), head: sha('4'), rounds: CEILING, configuration, found })
  const edit = (last: Conclusion, configuration: PlanFacts['configuration'], found: readonly Finding[] = []) =>
    concluded({ last, head: last.head, rounds: CEILING, configuration, found, isEdit: true })

  it('RO6: an edited description takes no demand for action away, however often the description is edited', () => {
    const pushed = push(DEFAULT_CONFIGURATION, [openFinding])
    const once = edit(pushed, DEFAULT_CONFIGURATION)
    for (const conclusion of [pushed, once, edit(once, DEFAULT_CONFIGURATION)]) {
      expect(checkRunOf(conclusion).conclusion).toBe('action_required')
      expect(labelOf(conclusion).label).toBe('muster: action required')
      expect(conclusion.lastFullHead).toBe(sha('3'))
    }
  })

  it('RO6: an edited description makes no check run green, also if all active lenses are analyzers', () => {
    const edited = edit(push(WITHOUT_MODELS, []), WITHOUT_MODELS)
    expect(checkRunOf(edited).conclusion).toBe('neutral')
    expect(labelOf(edited).label).toBe('muster: action required')
  })

  it('RO6: an edited description makes no check run green at a push without a verdict', () => {
    const first = { last: lastRound(WITHOUT_MODELS, []), head: sha('4'), rounds: CEILING, isEdit: true } as const
    expect(checkRunOf(concluded({ ...first, configuration: WITHOUT_MODELS })).conclusion).toBe('neutral')
  })

  it('PR6: the head of the last round keeps its full review after an edit of the description', () => {
    const once = edit(lastRound(DEFAULT_CONFIGURATION, []), DEFAULT_CONFIGURATION)
    for (const edited of [once, edit(once, DEFAULT_CONFIGURATION)]) {
      expect(edited).toMatchObject({ kindReason: 'text_edited', verdict: 'pass' })
      expect(checkRunOf(edited).conclusion).toBe('success')
    }
  })
})

describe('a finding without a second look', () => {
  const first = concluded({ last: undefined, head: sha('1'), found: [openFinding] })
  const pushed = {
    'its lens failed': concluded({ last: first, head: sha('2'), rounds: 1, fails: 'correctness' }),
    'the rounds are over': concluded({ last: first, head: sha('2'), rounds: CEILING }),
  }

  it.each(Object.entries(pushed))(
    'A1: a finding without a second look stays open and has no annotation: %s',
    (_, last) => {
      expect(checkRunOf(first).annotations).toHaveLength(1)
      expect(last.findings).toEqual([openFinding])
      expect(verbs(last)).toEqual(['not_looked_at'])
      expect(checkRunOf(last).annotations).toEqual([])
    },
  )

  it.each(Object.entries(pushed))('PR6: an edit of the description gives a finding no second look: %s', (_, last) => {
    const edited = concluded({ last, head: last.head, rounds: last.round || CEILING, isEdit: true })
    expect(edited.findings).toEqual([openFinding])
    expect(verbs(edited)).toEqual(['not_looked_at'])
    expect(checkRunOf(edited).annotations).toEqual([])
    expect(summaryOf(edited).body).toContain('not looked at')
  })

  it('PR6: after an edit, a finding seen at this head is still present', () => {
    const again = concluded({
      last: first,
      head: sha('2'),
      rounds: 1,
      found: [{ ...openFinding, originHead: sha('2') }],
    })
    const edited = concluded({ last: again, head: sha('2'), rounds: 2, isEdit: true })
    expect(verbs(edited)).toEqual(['still_present'])
    expect(checkRunOf(edited).annotations).toHaveLength(1)
  })
})

describe('files given to no model', () => {
  const many = [...Array.from({ length: 45 }, (_, at) => file(`src/${at}.ts`, 800)), file('go.sum', 9)]
  const first = concluded({ last: undefined, head: sha('1'), files: many })
  const edited = (last: Conclusion, changes: Partial<Step> = {}) =>
    concluded({ last, head: sha('1'), rounds: 1, isEdit: true, files: many, ...changes })

  it('R5: files given to no model make the verdict incomplete, also after edits of the description', () => {
    const once = edited(first)
    for (const conclusion of [first, once, edited(once)]) {
      expect(conclusion.verdict).toBe('incomplete')
      expect(conclusion.incompleteReasons).toEqual([expect.stringContaining('8 files were not read, src/')])
      expect(conclusion.leftOut).toEqual(first.leftOut)
      expect(checkRunOf(conclusion).conclusion).toBe('neutral')
    }
    expect(summaryOf(once).body).toContain('Given to no lens')
  })

  it('files given to no model are forgotten when the lens is off, or when the diff has them no more', () => {
    expect(edited(first, { configuration: WITHOUT_MODELS })).toMatchObject({ verdict: 'pass', leftOut: [] })
    expect(edited(first, { files: many.slice(0, 1) })).toMatchObject({ verdict: 'pass', leftOut: [] })
  })
})
