/** The view of invariants on a simulated world. */
import { app } from './app.ts'
import type { View } from './invariants/observer.ts'
import { queues } from './stack.ts'
import type { World } from './world.ts'

/** `known` holds facts from outside the world: the deeds of scenarios, the log, and the bounds. */
export function viewOf(world: World, known: Pick<View, 'history' | 'logs' | 'bounds'>): View {
  const { timeline, wire, table, documents, github, machine, answers } = world
  const messagesOf = (name: string) => () => world.queues.messages(name)
  return {
    now: () => timeline.now,
    invocation: () => wire.invocation,
    table,
    document: (digest) => documents.text(`sha256/${digest}`),
    github: Object.assign(Object.create(github), { ourLogin: `${app.slug}[bot]` }),
    executions: () => machine.executions(),
    queues: { inbox: messagesOf(queues.inbox.name), outbox: messagesOf(queues.outbox.name) },
    deadLetters: () => Object.values(queues).flatMap(({ deadLetters }) => world.queues.messages(deadLetters)),
    answers,
    ...known,
  }
}
