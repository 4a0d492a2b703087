/** The fleet as tables for people. Pure. */
import type { Effective } from '../shared/fleet/ceiling.ts'
import type { FleetView, HaltView, PoolView } from '../shared/fleet/fleet-view.ts'
import { counted, visibleLine } from './format.ts'

/** The reason why an effective limit is below the configured one. */
const REASONS: Readonly<Record<NonNullable<Effective['reason']>, string>> = {
  concurrency_disabled: 'one at a time: disabled',
  pool_ceiling: 'the pool allows no more',
  account_limit: 'the account allows no more',
  per_repository: 'limit of each repository',
  fleet_ceiling: 'the fleet allows no more',
}

export function fleetText(view: FleetView): string {
  const { fleet, repository, pools, slots, waiting, halts } = view
  const waitingCount = waiting.cut ? `more than ${waiting.tickets.length}` : String(waiting.tickets.length)
  const sections = [
    `${counted(fleet.held, 'review')} at work, ${waitingCount} waiting.`,
    table(
      ['', 'configured', 'effective', 'at work', ''],
      [
        ['fleet', fleet.configured, fleet.effective, fleet.held, reasonOf(fleet)],
        ['each repository', repository.configured, repository.effective, '', reasonOf(repository)],
        ...pools.map((pool) => [pool.pool, pool.configured, pool.effective, pool.held, poolNote(pool)]),
      ],
    ),
    ...(slots.length === 0
      ? []
      : [
          table(
            ['at work since', ...REVIEW],
            slots.map((slot) => [slot.since, ...reviewOf(slot)]),
          ),
        ]),
    ...(waiting.tickets.length === 0
      ? []
      : [
          table(
            ['waiting, turn', ...REVIEW],
            waiting.tickets.map((ticket) => [ticket.turn, ...reviewOf(ticket)]),
          ),
        ]),
    ...halts.map(haltText),
  ]
  return sections.join('\n\n')
}

export function haltText({ scope, by, why, since }: HaltView): string {
  const reason = why === '' ? '' : `: ${visibleLine(why)}`
  return `Halted: ${scope}, by ${visibleLine(by)} since ${since}${reason}`
}

const REVIEW = ['lens', 'part', 'pool', 'repository', 'run']

function reviewOf(review: FleetView['slots'][number] | FleetView['waiting']['tickets'][number]) {
  return [review.lens, review.part, review.pool, review.repository, review.run]
}

function reasonOf({ reason }: Effective): string {
  return reason === undefined ? '' : REASONS[reason]
}

function poolNote(pool: PoolView): string {
  const closed = pool.closedUntil === undefined ? '' : `closed until ${pool.closedUntil}`
  return [reasonOf(pool), closed].filter((text) => text !== '').join('; ')
}

/** Columns as wide as their widest cell; numbers to the right. */
function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => visibleLine(String(cell))))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const isNumeric = head.map((_, column) => rows.every((row) => typeof row[column] === 'number' || row[column] === ''))
  return cells
    .map((row) =>
      row
        .map((cell, column) =>
          isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
