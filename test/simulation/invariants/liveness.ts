/** I5: at rest every accepted run has ended, or is held under a standing halt, and nothing is left behind. */
import type { PlainItem } from '../services/table.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import {
  type Change,
  FLEET,
  type FleetItem,
  HALTS,
  type HaltsItem,
  isDone,
  isHalted,
  type ReviewItem,
  type RunItem,
  reviewKey,
  type TicketItem,
} from './items.ts'
import type { View } from './view.ts'

export function livenessInvariant(view: View, judge: Judge): Invariant {
  /** Markers whose last put came after their queue had become empty. */
  const landedLate = new Set<string>()

  function markerPut({ key, after }: Change<PlainItem>): void {
    const queue = `QUEUE${key.sk.slice('WAITING'.length)}`
    const waiting = view.table.items(queue).filter(({ pk }) => pk === queue) as unknown as TicketItem[]
    if (after && waiting.every(isVoid)) landedLate.add(key.sk)
    else landedLate.delete(key.sk)
  }

  return {
    watch: { queue: markerPut },
    atRest() {
      const items = view.table.items()
      const halts = view.table.item(HALTS) as unknown as HaltsItem | undefined
      const runs = items.filter(({ sk }) => sk === 'RUN') as unknown as RunItem[]
      const halted = new Set(runs.filter((run) => isHalted(halts, run.repository)).map(({ runId }) => runId))
      for (const run of runs) judgeRun(run, halted.has(run.runId))
      for (const item of items) judgeItem(item, halted, halts)
      judgeFleet(items)
      judgeExecutions(runs, halted)
      judgeQueues()
    },
  }

  function judgeRun(run: RunItem, isHeld: boolean): void {
    judge.looked()
    const { state, outcome, reason } = run
    // A halt doesn't hold a concluded run, but the run's messages wait for the end of the halt.
    const mayWait = isHeld && ((state === 'held' && reason?.code === 'halted') || state === 'concluded')
    judge.holds(state === 'ended' || mayWait, 'A run has not ended.', () => ({ run }))
    if (state !== 'ended') return
    judge.holds(outcome !== undefined, 'A run ended without an outcome.', () => ({ run }))
    judge.holds(outcome === 'reviewed' || reason !== undefined, 'A run ended unreviewed without a reason.', () => ({
      run,
    }))
    judge.holds(outcome !== 'reviewed' || run.verdict !== undefined, 'A run was reviewed without a verdict.', () => ({
      run,
    }))
  }

  function judgeItem(item: PlainItem, halted: ReadonlySet<string>, halts: HaltsItem | undefined): void {
    const { pk, sk } = item as { pk: string; sk: string }
    if (pk.startsWith('QUEUE#')) judgeTicket(item as unknown as TicketItem)
    if (sk.startsWith('REVIEW#')) {
      const { state } = item as unknown as ReviewItem
      // A take-back without a task token leaves a review `planned`, as if no Admit had ever come.
      judge.holds(isDone(state) || state === 'planned', 'A review is under way at rest.', () => ({ item }))
    }
    // A closed pool keeps the fleet due until the pool opens.
    if (item.dueAt === undefined || sk === 'FLEET') return
    const mayWait = halted.has(String(item.runId)) || (halts !== undefined && isOfHalted(item, halted))
    judge.holds(mayWait, 'Something is due for ever.', () => ({ item }))
  }

  /**
   * A void ticket may remain: a late write may land after the deletion, and the next hand-over that meets the ticket
   * deletes it.
   */
  function judgeTicket(ticket: TicketItem): void {
    const review = view.table.item(reviewKey(ticket.reviewId))
    judge.holds(isVoid(ticket), 'A ticket is left.', () => ({ ticket, review }))
  }

  function isVoid({ reviewId, epoch }: TicketItem): boolean {
    const review = view.table.item(reviewKey(reviewId)) as unknown as ReviewItem | undefined
    return review !== undefined && (review.epoch !== epoch || isDone(review.state))
  }

  /** Resources have no run of their own: they wait with any run of their pull request. */
  function isOfHalted(item: PlainItem, halted: ReadonlySet<string>): boolean {
    const runIds = Object.entries(item)
      .filter(([member]) => member.startsWith('wanted_'))
      .map(([, wanted]) => (wanted as { runId: string }).runId)
    return runIds.some((runId) => halted.has(runId))
  }

  function judgeFleet(items: readonly PlainItem[]): void {
    const fleet = view.table.item(FLEET) as unknown as (FleetItem & { dueAt?: number }) | undefined
    const slots = Object.keys(fleet?.slots ?? {})
    judge.holds(slots.length === 0, 'A slot is held at rest.', () => ({ slots: fleet?.slots }))
    const isClosed = Object.keys(fleet?.closed ?? {}).length > 0
    judge.holds(fleet?.dueAt === undefined || isClosed, 'The fleet is due at rest.', () => ({ fleet }))
    // A marker that lands after all work is done costs the next hand-over one query, and that hand-over deletes the
    // marker.
    const markers = items.filter(({ sk }) => String(sk).startsWith('WAITING#') && !landedLate.has(String(sk)))
    judge.holds(markers.length === 0, 'A marker stands for an empty queue.', () => ({ markers }))
  }

  function judgeExecutions(runs: readonly RunItem[], halted: ReadonlySet<string>): void {
    const waiting = new Set(runs.filter(({ state, runId }) => state === 'concluded' && halted.has(runId)).map(idOf))
    const open = view.executions().filter(({ status, input }) => {
      if (status !== 'RUNNING') return false
      return !waiting.has(idOf(JSON.parse(input) as { runId: string; attempt: number }))
    })
    judge.holds(open.length === 0, 'An execution is open at rest.', () => ({ open: open.map(({ name }) => name) }))
  }

  function judgeQueues(): void {
    for (const [name, messages] of Object.entries(view.queues)) {
      const left = messages()
      judge.holds(left.length === 0, 'A queue is not empty at rest.', () => ({ name, left }))
    }
    const dead = view.deadLetters()
    judge.holds(view.history.crashLoop || dead.length === 0, 'A message became a dead letter.', () => ({ dead }))
  }
}

function idOf({ runId, attempt }: { runId: string; attempt: number }): string {
  return `${runId}/${attempt}`
}
