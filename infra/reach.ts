/**
 * What each room may reach, and why. The stack grants exactly this reach, and gives a room the names (environment
 * variables) of exactly the resources in its reach. `docs/security.md` is generated from this table: `node
 * docs/security.ts`.
 */
import type { RoomName } from './rooms.ts'

export type QueueName = 'inbox' | 'outbox'
export type SecretName = 'github-app' | 'models'

/** What a room does to items of the ledger; `checks` is a condition on an item that a transaction leaves unchanged. */
export type LedgerUse = 'reads' | 'creates' | 'changes' | 'deletes' | 'checks'

export interface Reach {
  readonly ledger: readonly LedgerUse[]
  /** Whether the room may query the ledger's index of due items. */
  readonly finds: boolean
  /** What the room does with content in the documents bucket. */
  readonly documents: readonly ('reads' | 'writes')[]
  /** The queues that get nudges of the room. */
  readonly sends: readonly QueueName[]
  /** The queue whose messages invoke the room. */
  readonly receives: QueueName | 'none'
  /** What the room does to executions. A room that starts an execution also describes it, to compare the input. */
  readonly executions: readonly ('starts' | 'describes' | 'stops')[]
  /** Whether the room answers task tokens. */
  readonly answers: boolean
  readonly secrets: readonly SecretName[]
  /** Whether the room talks to GitHub. */
  readonly github: boolean
  /** Whether the room chooses the model. */
  readonly choosesModel: boolean
}

/** A kind of access, and so a row of a room in the table. */
export type Access = keyof Reach

/** A room's reach, with a reason for each access: an access without a reason is unnecessary. */
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
      ledger: 'The room records a delivery as a run or an event before its answer, and recognises a known delivery.',
      sends: 'Every event but a head to review is for the command room, and a nudge wakes the command room.',
      executions:
        'A new head starts its run at once; an execution of the same name counts only if its input is the same.',
      secrets:
        'The webhook secret proves the signature of a delivery. The room never calls GitHub: its answer is due within seconds.',
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
        'A command starts, cancels or repeats a run, or halts a repository, and owes one reply. The room ends a run step by step: its reviews, tickets and slots, and the grants that these slots allow.',
      documents: 'A reply is content, and so is the ending of a run, for its check run.',
      sends: 'A nudge wakes Post to say the reply and to show the ending of a run.',
      receives: 'The queue keeps the events of a pull request in their order.',
      executions: 'The room starts a run for a person’s command, and stops the execution of an ended run.',
      answers: 'A released slot goes to a waiting review, whose task token is answered.',
      secrets:
        'The App’s private key: the room asks for the commander’s permission as the installation of the repository.',
      github: 'The room reads the commander’s permission and the pull request at that moment. It writes nothing there.',
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
      ledger: 'A run claims its pull request, writes its reviews, and ends the superseded run, as Command does.',
      documents:
        'The room stores the plan and the files that the lenses may read, and reads the plan of an earlier call again.',
      sends: 'A nudge wakes Post to show a check under way and the ending of a superseded run.',
      executions: 'The room stops the execution of a superseded run.',
      answers: 'A slot of the superseded run goes to a waiting review, whose task token is answered.',
      secrets: 'The App’s private key: the room reads the pull request as the installation of its repository.',
      github:
        'The room reads the pull request, its files and the configuration of its base branch. It writes nothing there.',
      choosesModel: 'The plan names the model of each lens.',
    },
  },
  admit: {
    ...nothing,
    ledger: ['reads', 'creates', 'changes', 'deletes'],
    answers: true,
    why: {
      ledger:
        'The room writes a ticket, reads and grants the fleet’s slots, and deletes the ticket of a granted review.',
      answers: 'Each review with a new slot gets its task token answered.',
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
        'The room takes, renews, completes or gives back the lease of a review, and hands its slot over to a waiting ticket. It marks a run with a throttled model as parked, if no halt stands.',
      documents:
        'The room reads its part of the plan, and writes its result and the text of a parked run’s check run. It reads files here because it has no GitHub credential.',
      answers: 'The review that gets the slot has its task token answered.',
      secrets: 'The key of the lens’s model. No other room sends code to a model.',
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
        'One transaction writes the verdict, the review to be posted and the resources that GitHub is to show, if no halt stands; under a halt the run is held, and its slots are handed over.',
      documents: 'The room reads results, and writes the conclusion and the texts to be posted.',
      sends: 'A nudge wakes Post to say the verdict.',
      answers: 'The task token of a conclusion that GitHub already shows is answered without a wait for Post.',
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
        'The room leases a message or a resource before it calls GitHub, and marks it after it was read back; a review or comment counts in the budget of its installation before it is made.',
      documents: 'The room reads the texts to be posted.',
      receives: 'The queue keeps the posts of a pull request in their order.',
      answers: 'The run’s execution ends once GitHub shows everything.',
      secrets: 'The App’s private key: the room writes as the installation of the repository.',
      github: 'No other room writes to GitHub: reviews, comments, check runs and labels.',
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
      ledger: 'The sweep finishes the unfinished work of dead rooms: leases, slots, endings.',
      finds: 'No other room searches for due work.',
      documents: 'The ending of a run is content of its check run, and so is a wait for a throttled model.',
      sends: 'The sweep repeats a lost nudge.',
      executions:
        'The sweep starts an accepted run, ends a run whose execution ended, and stops the execution of an ended run.',
      answers: 'A review with a new slot, or without further attempts, gets its task token answered.',
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
        'The room shows runs and the fleet to programs authorised by IAM, sets limits and halts, and cancels or repeats a run step by step.',
      documents: 'The room shows the conclusion of a run; the ending of a cancelled run is content of its check run.',
      sends: 'A nudge wakes Post to show the ending of a cancelled run.',
      executions: 'The room starts a repeated run, and stops the execution of a cancelled run.',
      answers:
        'A slot that a cancelled run or a raised limit frees goes to a waiting review, whose task token is answered.',
    },
  },
}
