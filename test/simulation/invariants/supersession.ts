/** I4: after a newer head's first message nothing of an older head follows but the closing of its check run. */
import type { AcceptedWrite } from '../services/github/writes.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { summaryHeadIn } from './marker.ts'
import { boundsOf, type History, type View } from './view.ts'

/**
 * What was under way at that moment may land within the time that a call can take; whether it was undone is I3's, at
 * rest. Labels name no head: they are I3's too.
 */
export function supersessionInvariant(view: View, judge: Judge): Invariant {
  const { inFlightMs } = boundsOf(view)
  /** By pull request: the newest head of which a message stands, and since when, ms UTC. */
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
      // A head may come back by a forced push: its last time counts.
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

  /** A check run belongs to its commit: it is of each pull request that had it as a head. */
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

/** The head of which a write says something new; undefined if it says nothing, or of none. */
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
