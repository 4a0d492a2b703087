import { describe, expect, it } from 'vitest'
import { makePlan, type PlanFacts, textsWanted } from '../../../../functions/plan/core/plan.ts'
import { DESCRIPTION_BYTES_MAX, FILES_FETCHED_MAX, PLAN_REVIEWS_MAX } from '../../../../shared/base/limits.ts'
import type { FileChange } from '../../../../shared/findings/diff.ts'
import type { Thread } from '../../../../shared/runs/thread.ts'
import { DEFAULT_CONFIGURATION } from '../../../../shared/verdict/config.ts'
import { runOf, sha } from '../../../shared/samples.ts'

function file(path: string, changes: Partial<FileChange> = {}): FileChange {
  const lines = [{ kind: 'added', text: 'x', newLine: 1 } as const]
  const hunks = [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines }]
  return { path, status: 'added', additions: 1, deletions: 0, blob: sha(path), hunks, ...changes }
}

const run = runOf()
const thread: Thread = {
  repositoryId: 7,
  number: 42,
  head: run.head,
  baseRef: 'main',
  series: 1,
  round: 0,
  nextSequence: 1,
  version: 1,
}

function facts(changes: Partial<PlanFacts> = {}): PlanFacts {
  return {
    run,
    thread,
    pullRequest: { title: 'Widgets', body: 'Why', author: 'a-person' },
    baseSha: sha('base'),
    mergeBase: sha('merge base'),
    configuration: DEFAULT_CONFIGURATION,
    configurationProblems: [],
    configurationDigest: 'c1',
    template: undefined,
    files: [file('src/a.ts'), file('.github/workflows/ci.yml')],
    filesCut: false,
    lastConclusion: undefined,
    deploymentModel: { model: 'a-model', baseUrl: 'https://models.example' },
    now: 5,
    ...changes,
  }
}

const keyOf = (changes: Partial<PlanFacts> = {}) => makePlan(facts(changes)).planKey
const lensesPlaced = (changes: Partial<PlanFacts>) => [
  ...new Set(makePlan(facts(changes)).reviews.map(({ lens }) => lens)),
]

describe('the plan key', () => {
  it('LE1: the plan key is the same for the same facts at another time, in another attempt, round and run', () => {
    const later = {
      now: 99,
      thread: { ...thread, round: 1, version: 8 },
      run: { ...run, attempt: 3, runId: 'b'.repeat(64) },
      pullRequest: { title: 'Another title', body: 'Another', author: 'a-person' },
    }
    expect(keyOf(later)).toBe(keyOf())
  })

  it.each<[string, Partial<PlanFacts>]>([
    ['the head', { run: { ...run, head: sha('other') } }],
    ['the merge base', { mergeBase: sha('other') }],
    ['the configuration of the base', { configurationDigest: 'c2' }],
    ['the model', { deploymentModel: { model: 'another', baseUrl: 'https://models.example' } }],
    ['the endpoint of the model', { deploymentModel: { model: 'a-model', baseUrl: 'https://other.example' } }],
    ['no model at all', { deploymentModel: undefined }],
    ['the template', { template: '## Why' }],
    ['another focus', { run: { ...run, focus: 'locks' } }],
  ])('LE1: the plan key is another for %s', (_, changes) => {
    expect(keyOf(changes)).not.toBe(keyOf())
  })
})

describe('the plan', () => {
  it('a full run is the next round, by every active lens', () => {
    const plan = makePlan(facts({ thread: { ...thread, round: 1 } }))
    expect(plan).toMatchObject({ kind: 'full', round: 2, notRead: [], head: run.head })
    expect(plan.reviews.length).toBeLessThanOrEqual(PLAN_REVIEWS_MAX)
    expect(lensesPlaced({})).toContain('correctness')
  })

  it('RO8: at the ceiling of the rounds only analyzers read, the run is no round, and names the missing lenses', () => {
    const ceiling = DEFAULT_CONFIGURATION.rounds.ceiling
    const plan = makePlan(facts({ thread: { ...thread, round: ceiling } }))
    expect(plan).toMatchObject({ kind: 'analyzers', kindReason: 'rounds_ceiling', round: 0 })
    expect(plan.notRead.map(({ lens }) => lens)).toEqual(['correctness'])
    expect(makePlan(facts({ thread: { ...thread, round: ceiling - 1 } })).kind).toBe('full')
  })

  it('PR4: at the ceiling a head with a full review under the same key keeps the review', () => {
    const over = { thread: { ...thread, round: DEFAULT_CONFIGURATION.rounds.ceiling } }
    const again = makePlan(facts({ ...over, run: { ...run, concludedPlanKey: keyOf() } }))
    expect(again).toMatchObject({ kind: 'full', planKey: keyOf() })
  })

  it('with a ceiling of 0 rounds no model reads', () => {
    const configuration = { ...DEFAULT_CONFIGURATION, rounds: { ceiling: 0 } }
    expect(makePlan(facts({ configuration }))).toMatchObject({ kind: 'analyzers', round: 0 })
  })

  it('PR6: only analyzers read an edited description, and the run is no round', () => {
    const edited = runOf({ kind: 'analyzers', cause: 'text:1' })
    expect(makePlan(facts({ run: edited }))).toMatchObject({ kind: 'analyzers', kindReason: 'text_edited', round: 0 })
    expect(lensesPlaced({ run: edited })).not.toContain('correctness')
    const [notRead] = makePlan(facts({ run: edited })).notRead
    expect(notRead).toMatchObject({ lens: 'correctness', remedy: 'Comment `/muster review` to run the lens.' })
  })

  it('a model lens without a model is not read, and named with a remedy; a lens that is off does not count', () => {
    const [missing] = makePlan(facts({ deploymentModel: undefined })).notRead
    expect(missing).toMatchObject({ lens: 'correctness', reason: expect.stringContaining('model_not_configured') })
    expect(missing?.remedy).toContain('lenses.correctness: off')
    const lenses = { ...DEFAULT_CONFIGURATION.lenses, correctness: 'off' } as const
    const off = makePlan(facts({ deploymentModel: undefined, configuration: { ...DEFAULT_CONFIGURATION, lenses } }))
    expect(off.notRead).toEqual([])
  })

  it('AD6: a cut description is marked as cut', () => {
    const body = 'é'.repeat(DESCRIPTION_BYTES_MAX)
    const { pullRequest } = makePlan(facts({ pullRequest: { title: 't', body, author: 'a' } }))
    expect(pullRequest.bodyCut).toBe(true)
    expect(Buffer.byteLength(pullRequest.body)).toBeLessThanOrEqual(DESCRIPTION_BYTES_MAX)
    expect(makePlan(facts()).pullRequest.bodyCut).toBe(false)
  })

  it('AD5: an empty diff plans no review', () => {
    expect(makePlan(facts({ files: [] })).reviews).toEqual([])
  })
})

describe('textsWanted', () => {
  it('textsWanted names texts that a lens may ask for, none of removed or renamed files, and a bounded number', () => {
    const files = [
      file('src/a.ts'),
      file('gone.ts', { status: 'removed' }),
      file('moved.ts', { status: 'renamed', noPatch: 'pure_rename', hunks: [] }),
      file('.github/workflows/ci.yml'),
    ]
    expect(textsWanted(makePlan(facts({ files }))).map(({ path }) => path)).toEqual([
      'src/a.ts',
      '.github/workflows/ci.yml',
    ])
    const analyzersOnly = makePlan(facts({ files, deploymentModel: undefined }))
    expect(textsWanted(analyzersOnly).map(({ path }) => path)).toEqual(['.github/workflows/ci.yml'])
    const many = Array.from({ length: FILES_FETCHED_MAX + 50 }, (_, index) => file(`src/${index}.ts`))
    expect(textsWanted(makePlan(facts({ files: many }))).length).toBeLessThanOrEqual(FILES_FETCHED_MAX)
  })
})
