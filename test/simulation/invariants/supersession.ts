/** I4: after the first message of a newer head nothing of an older head follows but the end of its check run. */
import type { AcceptedWrite } from '../services/github/writes.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { summaryHeadIn } from './marker.ts'
import { boundsOf, type History, type View } from './view.ts'

/**
 * A call under way at that moment may land within the longest time of a call; I3 judges at rest whether the recheck has
 * undone the result. I3 also judges labels, because a label names no head.
 */
export function supersessionInvariant(view: View, judge: Judge): Invariant {
  const { inFlightMs } = boundsOf(view)
  /** By pull request: the newest head with a message, and the time of its first message, ms UTC. */
  const spoken = new Map<string, { readonly head: string; readonly at: number }>()
  let seen = 0

  function look(write: AcceptedWrite): void {
    const head = headOf(write)
    if (head === undefined) return
    judge.looked()
    for (const pull of pullsOf(write, head)) {
      const { heads } = view.github.pullRequest(pull.repository, pull.number)
      const key = `${pull.repositoryId}#${pull.number}`
      const newest = spoken.get(key)
      // A head may come back by a forced push: its last push counts.
      const isOlder = newest !== undefined && heads.lastIndexOf(head) < heads.lastIndexOf(newest.head)
      if (isOlder) judgeOlder(write, head, newest)
      else if (write.kind === 'review_submitted' && newest?.head !== head) spoken.set(key, { head, at: write.at })
    }
  }

  function judgeOlder(write: AcceptedWrite, head: string, newest: { head: string; at: number }): void {
    const isClosing = write.kind.startsWith('check_run') && write.sent.status === 'completed'
    const wasInFlight = write.at - newest.at <= inFlightMs
    judge.holds(isClosing || wasInFlight, 'Something of an older head followed a newer head’s message.', () => ({
      write,
      head,
      newest,
    }))
  }

  /** A check run belongs to a commit, so to each pull request that had the commit as head. */
  function pullsOf({ repository, number }: AcceptedWrite, head: string): readonly History['pulls'][number][] {
    const there = view.history.pulls.filter((pull) => pull.repository === repository)
    if (number !== undefined) return there.filter((pull) => pull.number === number)
    return there.filter((pull) => view.github.pullRequest(repository, pull.number).heads.includes(head))
  }

  return {
    afterStep() {
      for (; seen < view.github.writes.length; seen += 1) {
        const write = view.github.writes[seen]
        if (write) look(write)
      }
    },
  }
}

/** The head of a write that says something new; undefined for a write that says nothing new, or names no head. */
function headOf({ kind, head, sent }: AcceptedWrite): string | undefined {
  switch (kind) {
    case 'review_created':
    case 'review_submitted':
    case 'check_run_created':
    case 'check_run_changed':
      return head
    case 'comment_created':
    case 'comment_changed':
      return summaryHeadIn(String(sent.body ?? ''))
    default:
      return undefined
  }
}
