import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { whenLetIn } from '../../../functions/review/probe-admitted.ts'
import { PROBE_LET_IN_MS } from '../../../shared/base/limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a model has let a review in', () => {
  it('when it has answered, at once; others are let in once', async () => {
    const letOthersIn = vi.fn(() => Promise.resolve(true))
    const letIn = whenLetIn(letOthersIn)
    letIn.asked()
    expect(letOthersIn).not.toHaveBeenCalled()
    letIn.answered()
    expect(letOthersIn).toHaveBeenCalledTimes(1)
    letIn.asked()
    await vi.advanceTimersByTimeAsync(2 * PROBE_LET_IN_MS)
    letIn.answered()
    expect(letOthersIn).toHaveBeenCalledTimes(1)
    expect(await letIn.stop()).toBe(true)
  })

  it('when a call has been under way for a while, and not before', async () => {
    const letOthersIn = vi.fn(() => Promise.resolve(true))
    const letIn = whenLetIn(letOthersIn)
    await vi.advanceTimersByTimeAsync(PROBE_LET_IN_MS)
    letIn.asked()
    await vi.advanceTimersByTimeAsync(PROBE_LET_IN_MS - 1)
    expect(letOthersIn).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(letOthersIn).toHaveBeenCalledTimes(1)
  })

  it('not by a lens that works on after it was stopped', async () => {
    const letOthersIn = vi.fn(() => Promise.resolve(true))
    const letIn = whenLetIn(letOthersIn)
    letIn.asked()
    expect(await letIn.stop()).toBe(false)
    letIn.asked()
    letIn.answered()
    await vi.advanceTimersByTimeAsync(2 * PROBE_LET_IN_MS)
    expect(letOthersIn).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('and is stopped only when what has begun has ended', async () => {
    const begun = Promise.withResolvers<boolean>()
    const letIn = whenLetIn(() => begun.promise)
    letIn.answered()
    const stopped = vi.fn()
    const stopping = letIn.stop().then(stopped)
    await vi.advanceTimersByTimeAsync(0)
    expect(stopped).not.toHaveBeenCalled()
    begun.resolve(true)
    await stopping
    expect(stopped).toHaveBeenCalledWith(true)
  })
})
