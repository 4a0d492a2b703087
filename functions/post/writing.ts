/** GitHub as a poster writes to it: each creation of content is counted before, and a write without an answer is remembered. */
import { isFailure, Retry } from '../../shared/errors.ts'
import type { GitHub } from '../../shared/github/github.ts'
import { closeBudget, takeBudget } from '../../shared/ledger/budget.ts'
import type { Run } from '../../shared/run.ts'
import type { PostParts } from './parts.ts'

export interface Writing {
  readonly github: GitHub
  /** True once a write was not answered: it may still land, so a second look is due (DESIGN §9). */
  readonly unanswered: () => boolean
}

/**
 * Without budget a creation throws Retry `github_throttled` with the time until there is some, before GitHub is asked: it
 * takes time and is no error (AW76). Making and submitting a review and making a comment count; what changes or removes
 * something, check runs and labels don't, and a burst is not held up by them. A limit that GitHub itself names closes
 * the budget until then: nobody else of the installation creates into it, which GitHub asks for.
 */
export function writingFor({ ledger, github, now }: PostParts, run: Run): Writing {
  let unanswered = false

  const { installationId } = run.repository

  async function counted(): Promise<void> {
    const taken = await takeBudget(ledger, installationId, now())
    if (taken.taken) return
    const sentence = 'As much as this installation may create on GitHub in a minute or an hour has been created'
    throw new Retry('github_throttled', sentence, taken.until - now())
  }

  function watched<Arguments extends readonly unknown[], Result>(write: (...given: Arguments) => Promise<Result>) {
    return async (...given: Arguments): Promise<Result> => {
      try {
        return await write(...given)
      } catch (error) {
        if (isFailure(error, 'retry') && error.outcomeUnknown) unanswered = true
        if (isFailure(error, 'retry') && error.code === 'github_throttled') {
          await closeBudget(ledger, installationId, now() + error.afterMs)
        }
        throw error
      }
    }
  }

  function creating<Arguments extends readonly unknown[], Result>(create: (...given: Arguments) => Promise<Result>) {
    const write = watched(create)
    return async (...given: Arguments): Promise<Result> => {
      await counted()
      return write(...given)
    }
  }

  return {
    unanswered: () => unanswered,
    github: {
      ...github,
      createPendingReview: creating(github.createPendingReview),
      submitReview: creating(github.submitReview),
      deletePendingReview: watched(github.deletePendingReview),
      createComment: creating(github.createComment),
      updateComment: watched(github.updateComment),
      deleteComment: watched(github.deleteComment),
      createCheckRun: watched(github.createCheckRun),
      updateCheckRun: watched(github.updateCheckRun),
      addLabel: watched(github.addLabel),
      removeLabel: watched(github.removeLabel),
    },
  }
}
