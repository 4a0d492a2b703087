/** Whether a waiting review's place in its queue is there. */
import type { Ticket } from '../fleet/schedule.ts'
import { keyOf, type Ledger, read } from './table.ts'

/** True if the review's ticket and its queue's marker both stand: nothing of its wait was lost with who wrote them. */
export async function isQueued(ledger: Ledger, ticket: Ticket): Promise<boolean> {
  const { repository, pool, turn, reviewId, epoch } = ticket
  const [waits, isMarked] = await Promise.all([
    read(ledger, keyOf.ticket(repository, pool, turn, reviewId, epoch)),
    read(ledger, keyOf.queue(repository, pool)),
  ])
  return waits !== undefined && isMarked !== undefined
}
