import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { whenProbeAdmitted } from '../../../functions/review/probe-admitted.ts'
import { PROBE_ADMITTED_MS } from '../../../shared/base/limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a probe is admitted by its model', () => {
  it('a probe is admitted at the first answer, and admits others once', async () => {
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

  it('a probe is admitted after a call of some length, and not before', async () => {
    const admitOthers = vi.fn(() => Promise.resolve(true))
    const probeWatch = whenProbeAdmitted(admitOthers)
    await vi.advanceTimersByTimeAsync(PROBE_ADMITTED_MS)
    probeWatch.asked()
    await vi.advanceTimersByTimeAsync(PROBE_ADMITTED_MS - 1)
    expect(admitOthers).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(admitOthers).toHaveBeenCalledTimes(1)
  })

  it('a stopped probe is not admitted, also if its lens works on', async () => {
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

  it('stopping a probe waits for the end of an admission in progress', async () => {
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
