import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkRunIdentity,
  endedCheckRun,
  inProgressCheckRun,
  parkedCheckRun,
} from '../../../shared/publishing/check-run.ts'
import type { Reason, RunOutcome } from '../../../shared/runs/run.ts'
import { repository, runOf, sha } from '../samples.ts'

describe('checkRunIdentity', () => {
  it('the identity is the same for all runs and attempts of a repository, pull request and head', () => {
    const one = checkRunIdentity(runOf())
    expect(checkRunIdentity(runOf({ attempt: 3, cause: 'comment:1', runId: 'b'.repeat(64) }))).toEqual(one)
    expect(checkRunIdentity(runOf({ head: sha('other') })).externalId).not.toBe(one.externalId)
    expect(checkRunIdentity(runOf({ number: 43 })).externalId).not.toBe(one.externalId)
    expect(checkRunIdentity(runOf({ repository: { ...repository, id: 8 } })).externalId).not.toBe(one.externalId)
  })
})

describe('a check run without a verdict', () => {
  const outcomes: readonly RunOutcome[] = ['superseded', 'closed', 'cancelled', 'failed']

  it('N5, D3: the check run of an ended run is completed and never green', () => {
    fc.assert(
      fc.property(fc.constantFrom(...outcomes), fc.boolean(), (outcome, named) => {
        const reason: Reason = { code: 'execution_failed', sentence: 'Its execution ended.' }
        const shown = endedCheckRun(runOf({ outcome, state: 'ending', ...(named ? { reason } : {}) }))
        expect(shown.status).toBe('completed')
        expect(['neutral', 'cancelled']).toContain(shown.conclusion)
        expect(shown.title).toContain('Not reviewed')
      }),
    )
  })

  it('a failed run’s check run names reason, code and remedy', () => {
    const reason: Reason = { code: 'head_not_visible', sentence: 'GitHub did not show this head in time.' }
    const { summary, conclusion } = endedCheckRun(runOf({ outcome: 'failed', reason }))
    expect(conclusion).toBe('neutral')
    expect(summary).toContain('GitHub did not show this head in time. (`head_not_visible`)')
    expect(summary).toContain('Comment `/muster retry`, or push, to have the head reviewed.')
  })

  it('a failed run of a comment or a description names the command that reviews the head', () => {
    for (const cause of ['text:1', 'comment:1']) {
      const { summary } = endedCheckRun(runOf({ outcome: 'failed', cause }))
      expect(summary).toContain('Comment `/muster review`, or push')
    }
  })

  it.each(['superseded', 'closed', 'cancelled'] as const)('one that is %s says why, and nothing else', (outcome) => {
    const reason: Reason = { code: 'cancelled', sentence: 'Cancelled by @ana.' }
    expect(endedCheckRun(runOf({ outcome, reason })).summary).toBe('Cancelled by @ana.')
  })

  it('L2: a parked check run is in progress and names its start, its lens, the next try and the last', () => {
    const [since, nextTry, givenUpAt] = [9, 14, 69].map((minute) => Date.UTC(2026, 0, 5, 9, minute))
    if (!since || !nextTry || !givenUpAt) throw new Error('Expected three times')
    const run = runOf({ pools: { correctness: 'model/a', design: 'model/b' } })
    const shown = parkedCheckRun(run, { pool: 'model/a', since, nextTry, givenUpAt })
    expect(shown).toMatchObject({ status: 'in_progress', externalId: endedCheckRun(run).externalId })
    expect(shown.title).toBe('Parked since 2026-01-05 09:09 UTC, next try 2026-01-05 09:14 UTC')
    expect(shown.summary).toMatch(
      /model `a` asks.*by correctness\. .*again at .*09:14.*not read by 2026-01-05 10:09 UTC/,
    )
  })

  it('the check run in progress and the completed check run have one identity', () => {
    const inProgress = inProgressCheckRun(runOf(), ['secrets', 'workflows'])
    expect(inProgress).toMatchObject({ status: 'in_progress', externalId: endedCheckRun(runOf()).externalId })
    expect(inProgress.conclusion).toBeUndefined()
    expect(inProgress.summary).toContain('secrets, workflows')
    expect(inProgressCheckRun(runOf(), []).summary).toContain('no lens')
  })
})
