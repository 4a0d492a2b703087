/**
 * Under a halt nothing new is claimed, judged or posted. Only calls under way at the moment of the halt may still land.
 */
import type { AcceptedWrite } from '../services/github/writes.ts'
import type { Judge } from './broken.ts'
import { openHaltClock } from './halt-clock.ts'
import type { Invariant } from './invariant.ts'
import type { Change, RepositoryItem, ReviewItem, RunItem } from './items.ts'
import { isReplyIn } from './marker.ts'
import { boundsOf, type View } from './view.ts'

/** The removal of leftovers goes on under a halt. */
const REMOVALS: readonly AcceptedWrite['kind'][] = ['review_deleted', 'comment_deleted']

export function haltsInvariant(view: View, judge: Judge): Invariant {
  const { haltMs } = boundsOf(view)
  const halts = openHaltClock(view)
  const repositories = new Map<string, RepositoryItem>()
  let seen = 0

  function runMoved({ before, after }: Change<RunItem>): void {
    if (!after) return
    const { owner, name } = after.repository
    repositories.set(`${owner}/${name}`, after.repository)
    const isClaimed = after.state === 'running' && before?.state !== 'running'
    const isConcluded = after.state === 'concluded' && before?.state !== 'concluded'
    if (!isClaimed && !isConcluded) return
    judge.looked()
    // Claim and conclude check halts inside their transactions, so no time may pass.
    const standingMs = halts.standingMs(after.repository)
    judge.holds(standingMs === undefined, 'A run was claimed or concluded under a halt.', () => ({
      run: after,
      standingMs,
    }))
  }

  function reviewMoved({ before, after }: Change<ReviewItem>): void {
    if (after?.state !== 'completed' || before?.state === 'completed') return
    judgeLate('A review was completed long after its repository was halted.', after.repository, () => ({ after }))
  }

  function judgeLate(sentence: string, repository: RepositoryItem | undefined, facts: () => object): void {
    const standingMs = (repository && halts.standingMs(repository)) ?? 0
    judge.holds(standingMs <= haltMs, sentence, () => ({ ...facts(), standingMs }))
  }

  return {
    watch: { ...halts.watch, run: runMoved, review: reviewMoved },
    afterStep() {
      for (; seen < view.github.writes.length; seen += 1) {
        const write = view.github.writes[seen]
        if (!write || REMOVALS.includes(write.kind) || isReplyIn(String(write.sent.body ?? ''))) continue
        const repository = repositories.get(write.repository)
        judgeLate('GitHub was written to long after its repository was halted.', repository, () => ({ write }))
      }
    },
  }
}
