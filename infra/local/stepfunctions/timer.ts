/** Calls something at a time, however far away. */

/** Ms: the longest that `setTimeout` can wait (2^31 - 1); what is longer takes several of them. */
const timerMsMax = 2_147_483_647

/**
 * Calls `action` once `now()` has reached `time` (both ms since the epoch), in a later turn at the earliest.
 * Returns how to call it off.
 */
export function callAt(time: number, now: () => number, action: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (): void => {
    const leftMs = Math.max(0, time - now())
    timer = setTimeout(leftMs > timerMsMax ? arm : action, Math.min(leftMs, timerMsMax))
  }
  arm()
  return () => clearTimeout(timer)
}
