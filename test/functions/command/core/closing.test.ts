import { describe, expect, it } from 'vitest'
import { runToEnd } from '../../../../functions/command/core/closing.ts'
import type { Thread } from '../../../../shared/runs/thread.ts'
import { repository } from '../../../shared/samples.ts'

const closed = { kind: 'closed', repository, number: 42, cause: 'closed:5000', eventAt: 5_000 } as const
const thread = (eventAt: number, openAt?: number): Thread => ({
  repositoryId: 7,
  number: 42,
  head: 'h',
  baseRef: 'main',
  series: 1,
  round: 0,
  nextSequence: 1,
  liveRun: { runId: 'r', attempt: 2, kind: 'full', eventAt, ...(openAt === undefined ? {} : { openAt }) },
  version: 1,
})

describe('runToEnd', () => {
  it('L4: a closed pull request ends its live run, at the attempt that was seen', () => {
    expect(runToEnd(closed, thread(4_000))).toMatchObject({
      runId: 'r',
      attempt: 2,
      outcome: 'closed',
      reason: { code: 'pull_request_closed' },
    })
    expect(runToEnd(closed, thread(5_000))).toBeDefined()
  })

  it('closed, then reopened: the older event ends nothing of the later one', () => {
    expect(runToEnd(closed, thread(5_001))).toBeUndefined()
  })

  it('D3: GitHub has shown it open since then: whoever asked for that review, it is left alone', () => {
    expect(runToEnd(closed, thread(1_000, 6_000))).toBeUndefined()
    expect(runToEnd(closed, thread(1_000, 4_000))).toMatchObject({ runId: 'r', asksAgain: false })
  })

  it('D3: GitHub has shown it open in that second: it is asked again', () => {
    expect(runToEnd(closed, thread(1_000, 5_000))).toMatchObject({ runId: 'r', asksAgain: true })
  })

  it('there may be nothing to end', () => {
    expect(runToEnd(closed, undefined)).toBeUndefined()
    const { liveRun: _, ...none } = thread(1)
    expect(runToEnd(closed, none)).toBeUndefined()
  })
})
