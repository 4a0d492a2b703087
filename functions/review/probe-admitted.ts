/** When a model has let a review in: once it has answered, or hasn't refused for a while. */

import { PROBE_ADMITTED_MS } from '../../shared/base/limits.ts'
import type { ModelCalls } from '../../shared/findings/lens.ts'

/** To be told of the calls of one reading. */
export interface ProbeWatch extends ModelCalls {
  /** Nothing begins any more; what is under way is waited for. Answers what `admitOthers` did; false if it never began. */
  stop(): Promise<boolean>
}

/** Begins `admitOthers`, which never rejects, once: beside the reading, as soon as the model has let it in. */
export function whenProbeAdmitted(admitOthers: () => Promise<boolean>): ProbeWatch {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<boolean> | undefined

  function begin(): void {
    clearTimeout(timer)
    if (!isStopped) underWay ??= admitOthers()
  }

  return {
    asked() {
      if (!isStopped) timer ??= setTimeout(begin, PROBE_ADMITTED_MS).unref()
    },
    answered: begin,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      return (await underWay) ?? false
    },
  }
}
