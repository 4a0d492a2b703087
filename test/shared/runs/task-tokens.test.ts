import { expect, it } from 'vitest'
import { TOKENS_KEPT } from '../../../shared/base/limits.ts'
import { tokensIn, withToken } from '../../../shared/runs/task-tokens.ts'

it('IL9, IL10: every token is kept once, the newest last, in any order of the calls', () => {
  let kept = withToken(undefined, 't0')
  expect(kept).toBe('t0')
  for (const token of ['t1', 't0', 't2', 't2']) kept = withToken(kept, token)
  expect(tokensIn(kept)).toEqual(['t0', 't1', 't2'])
})

it('the oldest tokens go beyond the limit', () => {
  let kept: string | undefined
  for (let index = 0; index < TOKENS_KEPT + 2; index += 1) kept = withToken(kept, `t${index}`)
  expect(tokensIn(kept ?? '')).toHaveLength(TOKENS_KEPT)
  expect(tokensIn(kept ?? '')[0]).toBe('t2')
})
