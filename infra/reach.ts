/**
 * What each room may touch. The stack grants exactly this, and gives a room the names (environment
 * variables) of exactly what it may touch, so this table is the place to look before an incident and after.
 * Every room reads and writes the ledger.
 */
import type { RoomName } from './rooms.ts'

export type QueueName = 'inbox' | 'outbox'
export type SecretName = 'github-app' | 'models'

export interface Reach {
  /** Whether the room may ask the ledger's index of what is due. */
  readonly finds: boolean
  /** What the room does with content in the documents bucket. */
  readonly documents: readonly ('reads' | 'writes')[]
  /** Queues that the room sends a nudge to. */
  readonly sends: readonly QueueName[]
  /** The queue whose messages invoke the room. */
  readonly receives: QueueName | 'none'
  /** What the room does to executions. Who starts one also describes it, to see whether it had the same input. */
  readonly executions: readonly ('starts' | 'describes' | 'stops')[]
  /** Whether the room answers task tokens. */
  readonly answers: boolean
  readonly secrets: readonly SecretName[]
  /** Whether the room talks to GitHub. */
  readonly github: boolean
  /** Whether the room decides which model reads. */
  readonly choosesModel: boolean
}

const nothing = {
  finds: false,
  documents: [],
  sends: [],
  receives: 'none',
  executions: [],
  answers: false,
  secrets: [],
  github: false,
  choosesModel: false,
} as const satisfies Reach

export const reach: Readonly<Record<RoomName, Reach>> = {
  // Verifies with the App's secret, and never calls GitHub: an answer is due within seconds.
  webhook: { ...nothing, sends: ['inbox'], executions: ['starts', 'describes'], secrets: ['github-app'] },
  // Ends runs: stops their executions, hands their slots on, says on the check run how they ended.
  command: {
    ...nothing,
    documents: ['writes'],
    sends: ['outbox'],
    receives: 'inbox',
    executions: ['stops'],
    answers: true,
  },
  // Ends the run that it supersedes, as command does.
  plan: {
    ...nothing,
    documents: ['reads', 'writes'],
    sends: ['outbox'],
    executions: ['stops'],
    answers: true,
    secrets: ['github-app'],
    github: true,
    choosesModel: true,
  },
  admit: { ...nothing, answers: true },
  // Holds no GitHub credential: what it reads was fetched by plan.
  review: { ...nothing, documents: ['reads', 'writes'], answers: true, secrets: ['models'] },
  conclude: { ...nothing, documents: ['reads', 'writes'], sends: ['outbox'], answers: true },
  post: { ...nothing, documents: ['reads'], receives: 'outbox', answers: true, secrets: ['github-app'], github: true },
  api: { ...nothing, documents: ['reads'] },
  // Whatever another room left undone, apart from talking to GitHub.
  sweep: {
    ...nothing,
    finds: true,
    documents: ['writes'],
    sends: ['inbox', 'outbox'],
    executions: ['starts', 'describes', 'stops'],
    answers: true,
  },
}
