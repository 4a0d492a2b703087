/** When a world is at rest: nothing is under way, and nothing more happens by itself. */
import { rooms } from '../../infra/rooms.ts'
import { HEAD_VISIBLE_WITHIN_MS } from '../../shared/base/limits.ts'
import type { Commit } from './services/table.ts'
import { queues } from './stack.ts'
import { SWEEP_EVERY_MS, type World } from './world.ts'

/** A batch of a queue is hidden for so many times of its function's timeout: infra/nudge-queue.ts. */
const HIDDEN_TIMEOUTS = 6

/** What keeps a world from rest, by name; empty at rest. */
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
 * How long it may take from when nothing goes wrong any more until everything is at rest, ms: a lens that hangs takes its
 * function's time; then what follows from it, of which the longest is a head that GitHub doesn't show, a batch whose poster
 * crashed and that is hidden for six times of its function's, and leases and second looks of as many who died in a row.
 */
export function restWithinMs(leaseSeconds: number): number {
  const leaseMs = leaseSeconds * 1000
  const hiddenMs = HIDDEN_TIMEOUTS * rooms.post.timeoutSeconds * 1000
  return rooms.review.timeoutSeconds * 1000 + HEAD_VISIBLE_WITHIN_MS + hiddenMs + 5 * (leaseMs + SWEEP_EVERY_MS)
}
