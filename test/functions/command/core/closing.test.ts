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
  it('L4: a closed pull request ends its live run, at the attempt as read', () => {
    expect(runToEnd(closed, thread(4_000))).toMatchObject({
      runId: 'r',
      attempt: 2,
      outcome: 'closed',
      reason: { code: 'pull_request_closed' },
    })
    expect(runToEnd(closed, thread(5_000))).toBeDefined()
  })

  it('a closing ends no run of a later event, as after a reopening', () => {
    expect(runToEnd(closed, thread(5_001))).toBeUndefined()
  })

  it('D3: a run stays if GitHub showed the pull request open after the closing', () => {
    expect(runToEnd(closed, thread(1_000, 6_000))).toBeUndefined()
    expect(runToEnd(closed, thread(1_000, 4_000))).toMatchObject({ runId: 'r', asksAgain: false })
  })

  it('D3: a run ends and asks again if GitHub showed the pull request open in the second of the closing', () => {
    expect(runToEnd(closed, thread(1_000, 5_000))).toMatchObject({ runId: 'r', asksAgain: true })
  })

  it('a closing without a live run ends nothing', () => {
    expect(runToEnd(closed, undefined)).toBeUndefined()
    const { liveRun: _, ...none } = thread(1)
    expect(runToEnd(closed, none)).toBeUndefined()
  })
})
