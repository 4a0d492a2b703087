/** When a model has let a review in: once it has answered, or hasn't refused for a while. */

import { PROBE_LET_IN_MS } from '../../shared/base/limits.ts'
import type { ModelCalls } from '../../shared/findings/lens.ts'

/** To be told of the calls of one reading. */
export interface LetIn extends ModelCalls {
  /** Nothing begins any more; what is under way is waited for. Answers what `letOthersIn` did; false if it never began. */
  stop(): Promise<boolean>
}

/** Begins `letOthersIn`, which never rejects, once: beside the reading, as soon as the model has let it in. */
export function whenLetIn(letOthersIn: () => Promise<boolean>): LetIn {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<boolean> | undefined

  function begin(): void {
    clearTimeout(timer)
    if (!isStopped) underWay ??= letOthersIn()
  }

  return {
    asked() {
      if (!isStopped) timer ??= setTimeout(begin, PROBE_LET_IN_MS).unref()
    },
    answered: begin,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      return (await underWay) ?? false
    },
  }
}
