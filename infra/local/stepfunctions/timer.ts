/** Calls an action at a time, however far away. */

/** Ms: the longest wait of `setTimeout` (2^31 - 1); a longer wait takes several timers. */
const timerMsMax = 2_147_483_647

/**
 * Calls `action` once `now()` has reached `time` (both ms since the epoch), in a later turn at the earliest. Returns a
 * function that calls the action off.
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
