/**
 * What each room may touch, and why. The stack grants exactly this, and gives a room the names (environment
 * variables) of exactly what it may touch, so this table is the place to look before an incident and after.
 * `docs/security.md` is written from it: `node docs/security.ts`.
 */
import type { RoomName } from './rooms.ts'

export type QueueName = 'inbox' | 'outbox'
export type SecretName = 'github-app' | 'models'

/** What a room does to items of the ledger; `checks` is a condition on an item that a transaction leaves as it is. */
export type LedgerUse = 'reads' | 'creates' | 'changes' | 'deletes' | 'checks'

export interface Reach {
  readonly ledger: readonly LedgerUse[]
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

/** A kind of access, and so a row of a room in the table. */
export type Access = keyof Reach

/** A room's reach, with a sentence for each access that it has: one without a reason is one too many. */
export interface ReasonedReach extends Reach {
  readonly why: Readonly<Partial<Record<Access, string>>>
}

const nothing = {
  ledger: [],
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

export const reach: Readonly<Record<RoomName, ReasonedReach>> = {
  webhook: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes'],
    sends: ['inbox'],
    executions: ['starts', 'describes'],
    secrets: ['github-app'],
    why: {
      ledger: 'A delivery is recorded as a run or an event before it is answered, and a known one is recognised.',
      sends: 'What is no head to review is the command room’s, which is woken.',
      executions: 'A new head starts its run at once; a name that is taken counts only if it had the same input.',
      secrets:
        'The signature of a delivery is checked with the webhook secret. The room never calls GitHub: its answer is due within seconds.',
    },
  },
  command: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes', 'checks'],
    documents: ['writes'],
    sends: ['outbox'],
    receives: 'inbox',
    executions: ['starts', 'describes', 'stops'],
    answers: true,
    secrets: ['github-app'],
    github: true,
    why: {
      ledger:
        'A command starts, cancels or repeats a run, or halts a repository, and owes one reply. A run is ended step by step: its reviews, tickets and slots, and the next review that takes the slot.',
      documents: 'A reply is content, and so is how a run ended, for its check run.',
      sends: 'Post is woken to say the reply and to show how a run ended.',
      receives: 'Events of a pull request are worked on in their order.',
      executions: 'A run that a person asks for is started; one that is ended must not go on working.',
      answers: 'A slot that becomes free is handed on to a review that waits with its token.',
      secrets: 'The App’s private key: the permission of who commands is asked as the installation of the repository.',
      github: 'The permission of who commands, and the pull request, are read at that moment. It writes nothing there.',
    },
  },
  plan: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes', 'checks'],
    documents: ['reads', 'writes'],
    sends: ['outbox'],
    executions: ['stops'],
    answers: true,
    secrets: ['github-app'],
    github: true,
    choosesModel: true,
    why: {
      ledger:
        'A run claims its pull request, writes its reviews, and ends the run that it supersedes, as command does.',
      documents:
        'The plan and the files that the lenses may read are stored; the plan of an earlier call is read again.',
      sends: 'Post is woken to show that a check is under way, and how a superseded run ended.',
      executions: 'A superseded run must not go on working.',
      answers: 'A slot of the superseded run is handed on to a review that waits with its token.',
      secrets: 'The App’s private key: the pull request is read as the installation of its repository.',
      github: 'The pull request, its files and the configuration of its base branch are read. It writes nothing there.',
      choosesModel: 'The plan names the model that each lens asks.',
    },
  },
  admit: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes'],
    answers: true,
    why: {
      ledger:
        'A ticket is written, the fleet’s slots are read and granted, and the ticket of a granted review is deleted.',
      answers: 'A review that gets its slot at once is told so, and so is any other that does.',
    },
  },
  review: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes', 'checks'],
    documents: ['reads', 'writes'],
    answers: true,
    secrets: ['models'],
    why: {
      ledger:
        'The lease of a review is taken, renewed, completed or given back; its slot is handed on to a ticket that waits. A run whose model is throttled is marked as parked, if no halt stands.',
      documents:
        'Its part of the plan is read, its result written, and what a parked run’s check run says. It reads files here because it has no GitHub credential.',
      answers: 'Who gets the slot that it hands on is told so.',
      secrets: 'The key of the model that a lens asks. This is the one room that sends code to a model.',
    },
  },
  conclude: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes', 'checks'],
    documents: ['reads', 'writes'],
    sends: ['outbox'],
    answers: true,
    why: {
      ledger:
        'One transaction writes the verdict, the review to be posted and what GitHub is to show, if no halt stands; under one the run is held, and its places are handed on.',
      documents: 'Results are read; the conclusion and the texts to be posted are written.',
      sends: 'Post is woken to say the verdict.',
      answers: 'A conclusion that is shown already is answered without waiting for post.',
    },
  },
  post: {
    ...nothing,
    ledger: ['reads', 'changes'],
    documents: ['reads'],
    receives: 'outbox',
    answers: true,
    secrets: ['github-app'],
    github: true,
    why: {
      ledger:
        'A message or a resource is leased before GitHub is called, and marked after it was read back; a review or comment is counted in the budget of its installation before it is made.',
      documents: 'The texts to be posted are read.',
      receives: 'What is owed to a pull request is said in its order.',
      answers: 'The run’s execution ends when everything is shown.',
      secrets: 'The App’s private key: it speaks as the installation of the repository.',
      github: 'The one room that writes to GitHub: reviews, comments, check runs and labels.',
    },
  },
  sweep: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes', 'checks'],
    finds: true,
    documents: ['writes'],
    sends: ['inbox', 'outbox'],
    executions: ['starts', 'describes', 'stops'],
    answers: true,
    why: {
      ledger: 'It finishes whatever a room that died left undone: leases, slots, endings.',
      finds: 'It is the one room that looks for work instead of being given it.',
      documents: 'How a run ended is content of its check run, and so is that it waits for a throttled model.',
      sends: 'A nudge that was lost is sent again.',
      executions:
        'A run that was accepted is started, one whose execution ended is ended too, and one that is ended is stopped.',
      answers: 'A review that waits for a slot, or has been given up, is told so.',
    },
  },
  api: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes', 'checks'],
    documents: ['reads', 'writes'],
    sends: ['outbox'],
    executions: ['starts', 'describes', 'stops'],
    answers: true,
    why: {
      ledger:
        'Runs and the fleet are shown to programs that IAM lets in; limits and halts are set, and a run is cancelled step by step or asked for again.',
      documents: 'The conclusion of a run is shown with it; how a cancelled one ended is content of its check run.',
      sends: 'Post is woken to show how a cancelled run ended.',
      executions: 'A run that is asked for again is started; one that is cancelled must not go on working.',
      answers: 'A place that becomes free, by a cancelled run or a raised limit, is given to a review that waits.',
    },
  },
}
