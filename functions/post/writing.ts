/** GitHub as a poster writes to it: each creation of content is counted before, and a write without an answer is remembered. */
import { isFailure, Retry } from '../../shared/base/errors.ts'
import type { GitHub } from '../../shared/github/github.ts'
import { closeBudget, closedUntil, takeBudget } from '../../shared/ledger/budget.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { PostDeps } from './deps.ts'

export interface Writing {
  readonly github: GitHub
  /** True once a write was not answered: it may still land, so a second look is due (DESIGN §9). */
  readonly unanswered: () => boolean
}

/**
 * Without budget a creation throws Retry `github_throttled` with the time until there is some, before GitHub is asked: it
 * takes time and is no error (AW76). Making and submitting a review, which are taken together, and making a comment count;
 * what changes or removes something, check runs and labels don't, and a burst is not held up by them. A limit that GitHub
 * itself names closes the budget until then: nobody of the installation writes into it, which GitHub asks for.
 */
export function writingFor({ ledger, github, now }: PostDeps, run: Pick<Run, 'repository'>): Writing {
  let unanswered = false
  /** Taken and not used yet. */
  let left = 0

  const { installationId } = run.repository

  async function count(creations: number): Promise<void> {
    if (left > 0) {
      left -= 1
      return open()
    }
    const taken = await takeBudget(ledger, installationId, now(), creations)
    if (!taken.taken) {
      const sentence = 'As much as this installation may create on GitHub in a minute or an hour has been created'
      throw new Retry('github_throttled', sentence, taken.until - now())
    }
    left = creations - 1
  }

  async function open(): Promise<void> {
    const until = await closedUntil(ledger, installationId, now())
    if (until === undefined) return
    throw new Retry('github_throttled', 'GitHub takes nothing of this installation for now', until - now())
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

  /** `creations` are taken at once: this one, and what follows it. */
  function creating<Arguments extends readonly unknown[], Result>(
    create: (...given: Arguments) => Promise<Result>,
    creations: number,
  ) {
    const write = watched(create)
    return async (...given: Arguments): Promise<Result> => {
      await count(creations)
      return write(...given)
    }
  }

  function changing<Arguments extends readonly unknown[], Result>(change: (...given: Arguments) => Promise<Result>) {
    const write = watched(change)
    return async (...given: Arguments): Promise<Result> => {
      await open()
      return write(...given)
    }
  }

  return {
    unanswered: () => unanswered,
    github: {
      ...github,
      createPendingReview: creating(github.createPendingReview, 2),
      submitReview: creating(github.submitReview, 1),
      deletePendingReview: changing(github.deletePendingReview),
      createComment: creating(github.createComment, 1),
      updateComment: changing(github.updateComment),
      deleteComment: changing(github.deleteComment),
      createCheckRun: changing(github.createCheckRun),
      updateCheckRun: changing(github.updateCheckRun),
      addLabel: changing(github.addLabel),
      removeLabel: changing(github.removeLabel),
    },
  }
}
