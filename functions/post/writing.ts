/** GitHub as a poster writes to it: the budget meters creations, and an unanswered write is remembered. */
import { isFailure, Retry } from '../../shared/base/errors.ts'
import type { GitHub } from '../../shared/github/github.ts'
import { closeBudget, closedUntil, takeBudget } from '../../shared/ledger/budget.ts'
import type { Repository } from '../../shared/runs/run.ts'
import type { PostDeps } from './deps.ts'

export interface Writing {
  readonly github: GitHub
  /** True after an unanswered write: the write may still land, so a recheck is due. */
  readonly unanswered: () => boolean
}

/**
 * The budget meters comments and reviews; creating and submitting a review are taken together. Other writes are free,
 * so no burst holds them up. Without budget a creation throws Retry `github_throttled` before GitHub is asked: the wait
 * is no error (AW76). A limit that GitHub names closes the budget of the whole installation, as GitHub asks.
 */
export function writingFor({ ledger, github, now }: PostDeps, { installationId }: Repository): Writing {
  let isUnanswered = false
  /** Creations taken from the budget, not used yet. */
  let left = 0

  async function take(creations: number): Promise<void> {
    const taken = await takeBudget(ledger, installationId, now(), creations)
    if (!taken.taken) {
      const sentence = 'The installation has used up its creations on GitHub for this minute or hour'
      throw new Retry('github_throttled', sentence, taken.until - now())
    }
    left = creations
  }

  async function throwIfClosed(): Promise<void> {
    const until = await closedUntil(ledger, installationId, now())
    if (until === undefined) return
    throw new Retry('github_throttled', 'GitHub takes nothing of the installation for now', until - now())
  }

  /** `creations` are taken together for this write and later ones; 0 for a write that creates nothing. */
  function metered<Arguments extends readonly unknown[], Result>(
    write: (...args: Arguments) => Promise<Result>,
    creations = 0,
  ) {
    return async (...args: Arguments): Promise<Result> => {
      await (creations > 0 && left === 0 ? take(creations) : throwIfClosed())
      if (creations > 0) left -= 1
      try {
        return await write(...args)
      } catch (error) {
        if (isFailure(error, 'retry') && error.outcomeUnknown) isUnanswered = true
        if (isFailure(error, 'retry') && error.code === 'github_throttled') {
          await closeBudget(ledger, installationId, now() + error.afterMs)
        }
        throw error
      }
    }
  }

  return {
    unanswered: () => isUnanswered,
    github: {
      ...github,
      createPendingReview: metered(github.createPendingReview, 2),
      submitReview: metered(github.submitReview, 1),
      deletePendingReview: metered(github.deletePendingReview),
      createComment: metered(github.createComment, 1),
      updateComment: metered(github.updateComment),
      deleteComment: metered(github.deleteComment),
      createCheckRun: metered(github.createCheckRun),
      updateCheckRun: metered(github.updateCheckRun),
      addLabel: metered(github.addLabel),
      removeLabel: metered(github.removeLabel),
    },
  }
}
