import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { whenProbeAdmitted } from '../../../functions/review/probe-admitted.ts'
import { PROBE_ADMITTED_MS } from '../../../shared/base/limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a probe is admitted', () => {
  it('at once when its call is answered; other reviews are admitted once', async () => {
    const admitOthers = vi.fn(() => Promise.resolve(true))
    const probeWatch = whenProbeAdmitted(admitOthers)
    probeWatch.asked()
    expect(admitOthers).not.toHaveBeenCalled()
    probeWatch.answered()
    expect(admitOthers).toHaveBeenCalledTimes(1)
    probeWatch.asked()
    await vi.advanceTimersByTimeAsync(2 * PROBE_ADMITTED_MS)
    probeWatch.answered()
    expect(admitOthers).toHaveBeenCalledTimes(1)
    expect(await probeWatch.stop()).toBe(true)
  })

  it('when a call has been under way for a while, and not before', async () => {
    const admitOthers = vi.fn(() => Promise.resolve(true))
    const probeWatch = whenProbeAdmitted(admitOthers)
    await vi.advanceTimersByTimeAsync(PROBE_ADMITTED_MS)
    probeWatch.asked()
    await vi.advanceTimersByTimeAsync(PROBE_ADMITTED_MS - 1)
    expect(admitOthers).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(admitOthers).toHaveBeenCalledTimes(1)
  })

  it('not by calls of a lens that works on after the stop', async () => {
    const admitOthers = vi.fn(() => Promise.resolve(true))
    const probeWatch = whenProbeAdmitted(admitOthers)
    probeWatch.asked()
    expect(await probeWatch.stop()).toBe(false)
    probeWatch.asked()
    probeWatch.answered()
    await vi.advanceTimersByTimeAsync(2 * PROBE_ADMITTED_MS)
    expect(admitOthers).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('and stopped only after the end of an admission under way', async () => {
    const begun = Promise.withResolvers<boolean>()
    const probeWatch = whenProbeAdmitted(() => begun.promise)
    probeWatch.answered()
    const stopped = vi.fn()
    const stopping = probeWatch.stop().then(stopped)
    await vi.advanceTimersByTimeAsync(0)
    expect(stopped).not.toHaveBeenCalled()
    begun.resolve(true)
    await stopping
    expect(stopped).toHaveBeenCalledWith(true)
  })
})
