/** When a model has admitted a review: once a call is answered, or under way for PROBE_ADMITTED_MS without a refusal. */

import { PROBE_ADMITTED_MS } from '../../shared/base/limits.ts'
import type { ModelCalls } from '../../shared/findings/lens.ts'

/** Watches the model calls of a reading. */
export interface ProbeWatch extends ModelCalls {
  /** Waits for `admitOthers` if under way, and prevents any later call. Returns its result; false if it was never called. */
  stop(): Promise<boolean>
}

/** Calls `admitOthers`, which never rejects, once, beside the reading, as soon as the model has admitted the review. */
export function whenProbeAdmitted(admitOthers: () => Promise<boolean>): ProbeWatch {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let admission: Promise<boolean> | undefined

  function begin(): void {
    clearTimeout(timer)
    if (!isStopped) admission ??= admitOthers()
  }

  return {
    asked() {
      if (!isStopped) timer ??= setTimeout(begin, PROBE_ADMITTED_MS).unref()
    },
    answered: begin,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      return (await admission) ?? false
    },
  }
}
