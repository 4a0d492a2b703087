import { describe, expect, it } from 'vitest'
import { Dead, Retry } from '../../../shared/base/errors.ts'
import { HEAD_VISIBLE_WITHIN_MS } from '../../../shared/base/limits.ts'
import type { GitHub } from '../../../shared/github/github.ts'
import { whileNew } from '../../../shared/github/while-new.ts'

const repo = { owner: 'acme', name: 'widgets' }
const ACCEPTED_AT = 1_000_000

/** Asks for a pull request at `now`, and GitHub fails with `failure`. */
async function asked(failure: Error, now: number): Promise<unknown> {
  const github: Partial<GitHub> = { pullRequest: () => Promise.reject(failure) }
  return whileNew(github as GitHub, { acceptedAt: ACCEPTED_AT }, () => now).pullRequest(repo, 1)
}

describe('whileNew', () => {
  const notFound = new Dead('github_not_found', 'GitHub answered 404', 'Check it.')
  const tooLate = ACCEPTED_AT + HEAD_VISIBLE_WITHIN_MS

  it('AW47, AW73: a missing pull request may be visible later, for a bounded time', async () => {
    await expect(asked(notFound, ACCEPTED_AT)).rejects.toMatchObject({ name: 'retry', code: 'head_not_visible' })
    await expect(asked(notFound, tooLate - 1)).rejects.toMatchObject({ name: 'retry', outcomeUnknown: false })
    await expect(asked(notFound, tooLate)).rejects.toBe(notFound)
  })

  it('every failure but a missing thing stays unchanged', async () => {
    const refused = new Dead('github_refused', 'GitHub answered 403', 'Check it.')
    await expect(asked(refused, ACCEPTED_AT)).rejects.toBe(refused)
    const throttled = new Retry('github_throttled', 'GitHub answered 429', 60_000)
    await expect(asked(throttled, ACCEPTED_AT)).rejects.toBe(throttled)
  })

  it('an answer stays unchanged', async () => {
    const github: Partial<GitHub> = { labels: async () => ({ rows: ['a'], cut: false }) }
    expect(await whileNew(github as GitHub, { acceptedAt: 0 }, () => 0).labels(repo, 1)).toEqual({
      rows: ['a'],
      cut: false,
    })
  })
})
