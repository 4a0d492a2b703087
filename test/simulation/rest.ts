/** When a world is at rest: nothing is under way, and nothing more happens by itself. */
import { rooms } from '../../infra/rooms.ts'
import { HEAD_VISIBLE_WITHIN_MS } from '../../shared/base/limits.ts'
import type { Commit } from './services/table.ts'
import { queues } from './stack.ts'
import { SWEEP_EVERY_MS, type World } from './world.ts'

/** A received batch is hidden for six times its function's timeout, as in infra/nudge-queue.ts. */
const HIDDEN_TIMEOUTS = 6

/** The reasons why a world isn't at rest, by name; empty at rest. */
export interface Unrest {
  readonly due: readonly string[]
  readonly executions: readonly string[]
  readonly messages: readonly string[]
  readonly containers: readonly string[]
}

export interface RestWatch {
  committed(commit: Commit): void
  isAtRest(): boolean
  unrest(): Unrest
}

export function watchRest(world: () => World): RestWatch {
  const due = new Set<string>()

  function unrest(): Unrest {
    const { machine, functions, queues: waiting } = world()
    return {
      due: [...due],
      executions: machine.executions().flatMap(({ name, status }) => (status === 'RUNNING' ? [name] : [])),
      messages: Object.values(queues).flatMap(({ name }) =>
        waiting.messages(name).map(({ body }) => `${name}: ${body}`),
      ),
      containers: [...functions.containers].flatMap(({ idle, actor }) => (idle ? [] : [actor.name])),
    }
  }

  return {
    committed({ changes }) {
      for (const { key, after } of changes) {
        const name = `${key.pk} ${key.sk}`
        if (after?.dueAt === undefined) due.delete(name)
        else due.add(name)
      }
    },
    isAtRest: () => due.size === 0 && Object.values(unrest()).every(({ length }) => length === 0),
    unrest,
  }
}

/**
 * The longest time from the end of all faults to rest, ms. A hanging lens takes its function's timeout. Then its
 * consequences follow: at worst a head that GitHub doesn't show, a crashed poster's batch that is hidden for six
 * timeouts, and leases and rechecks of several processes that died in a row.
 */
export function restWithinMs(leaseSeconds: number): number {
  const leaseMs = leaseSeconds * 1000
  const hiddenMs = HIDDEN_TIMEOUTS * rooms.post.timeoutSeconds * 1000
  return rooms.review.timeoutSeconds * 1000 + HEAD_VISIBLE_WITHIN_MS + hiddenMs + 5 * (leaseMs + SWEEP_EVERY_MS)
}
