import { describe, expect, it } from 'vitest'
import { Dead, Retry } from '../../../shared/base/errors.ts'
import { HEAD_VISIBLE_WITHIN_MS } from '../../../shared/base/limits.ts'
import type { GitHub } from '../../../shared/github/github.ts'
import { whileNew } from '../../../shared/github/while-new.ts'

const repo = { owner: 'acme', name: 'widgets' }
const ACCEPTED_AT = 1_000_000

/** Asks for a pull request, where GitHub fails so, at that time. */
async function asked(failure: Error, now: number): Promise<unknown> {
  const github = { pullRequest: () => Promise.reject(failure) } as unknown as GitHub
  return whileNew(github, { acceptedAt: ACCEPTED_AT }, () => now).pullRequest(repo, 1)
}

describe('whileNew', () => {
  const notFound = new Dead('github_not_found', 'GitHub answered 404', 'Check it.')
  const tooLate = ACCEPTED_AT + HEAD_VISIBLE_WITHIN_MS

  it('AW47, AW73: what is not found may be visible later, for a bounded time', async () => {
    await expect(asked(notFound, ACCEPTED_AT)).rejects.toMatchObject({ name: 'retry', code: 'head_not_visible' })
    await expect(asked(notFound, tooLate - 1)).rejects.toMatchObject({ name: 'retry', outcomeUnknown: false })
    await expect(asked(notFound, tooLate)).rejects.toBe(notFound)
  })

  it('another failure stays what it is', async () => {
    const refused = new Dead('github_refused', 'GitHub answered 403', 'Check it.')
    await expect(asked(refused, ACCEPTED_AT)).rejects.toBe(refused)
    const throttled = new Retry('github_throttled', 'GitHub answered 429', 60_000)
    await expect(asked(throttled, ACCEPTED_AT)).rejects.toBe(throttled)
  })

  it('what is found is answered', async () => {
    const github = { labels: async () => ({ rows: ['a'], cut: false }) } as unknown as GitHub
    expect(await whileNew(github, { acceptedAt: 0 }, () => 0).labels(repo, 1)).toEqual({ rows: ['a'], cut: false })
  })
})
