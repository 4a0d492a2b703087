/**
 * What each room may touch. The stack grants exactly this, and gives a room the names (environment
 * variables) of exactly what it may touch, so this table is the place to look before an incident and after.
 */
import type { RoomName } from './rooms.ts'

export type QueueName = 'inbox' | 'outbox'
export type SecretName = 'github-app' | 'models'

export interface Reach {
  /** Items of the ledger. Every room reads and writes it; only `finds` may also ask the index of what is due. */
  readonly finds: boolean
  /** Content in the documents bucket; who writes reads too. */
  readonly documents: 'none' | 'reads' | 'writes'
  /** Queues that the room sends a nudge to. */
  readonly sends: readonly QueueName[]
  /** The queue whose messages invoke the room. */
  readonly receives: QueueName | 'none'
  /** What the room does to executions. */
  readonly executions: readonly ('starts' | 'describes' | 'stops')[]
  /** Whether the room answers task tokens. */
  readonly answers: boolean
  readonly secrets: readonly SecretName[]
}

const nothing = {
  finds: false,
  documents: 'none',
  sends: [],
  receives: 'none',
  executions: [],
  answers: false,
  secrets: [],
} as const satisfies Reach

export const reach: Readonly<Record<RoomName, Reach>> = {
  webhook: { ...nothing, sends: ['inbox'], executions: ['starts'], secrets: ['github-app'] },
  command: {
    ...nothing,
    sends: ['outbox'],
    receives: 'inbox',
    executions: ['starts', 'stops'],
    answers: true,
    secrets: ['github-app'],
  },
  // Ends the run that it supersedes: stops its execution, hands its slots on.
  plan: {
    ...nothing,
    documents: 'writes',
    sends: ['outbox'],
    executions: ['stops'],
    answers: true,
    secrets: ['github-app', 'models'],
  },
  admit: { ...nothing, documents: 'reads', answers: true },
  // Holds no GitHub credential: what it reads was fetched by plan.
  review: { ...nothing, documents: 'writes', answers: true, secrets: ['models'] },
  conclude: { ...nothing, documents: 'writes', sends: ['outbox'], answers: true, secrets: ['github-app'] },
  post: { ...nothing, documents: 'reads', receives: 'outbox', answers: true, secrets: ['github-app'] },
  sweep: {
    ...nothing,
    finds: true,
    documents: 'reads',
    sends: ['inbox', 'outbox'],
    executions: ['starts', 'describes', 'stops'],
    answers: true,
  },
}
