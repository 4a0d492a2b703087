/** The report of a bench: samples in one unit beside the samples of a peer, and their summary. */

export interface Samples {
  readonly what: string
  /** At least one sample; all samples are kept, none is discarded as an outlier. */
  readonly samples: readonly number[]
}

export interface Measurement extends Samples {
  /** The heading above the measurements of a group. */
  readonly group?: string
  /** Unit of the samples, and of the peer's. */
  readonly unit: string
  /** The comparison: another library measured the same way, a budget, a limit. */
  readonly peer?: Samples
}

export interface Bench {
  /** The name on the command line. */
  readonly name: string
  /** A sentence: the measured quantity and its comparison. */
  readonly measures: string
  /** Resolves when everything that the bench started has ended. Rejects if a measured event did not happen. */
  run(workspace: Workspace): Promise<Outcome>
}

export interface Workspace {
  /** An empty folder of this bench; removed afterwards. */
  readonly directory: string
  /** Folder of synthesized assemblies, shared by all benches. */
  readonly cacheDirectory: string
  /** Aborts at the bench's time limit: loads stop by themselves. */
  readonly signal: AbortSignal
}

export interface Outcome {
  readonly measurements: readonly Measurement[]
  /** Sentences below the table: the scope of the numbers, and found problems. */
  readonly notes: readonly string[]
}

export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Throws a RangeError without samples: a median of nothing would print as a number. */
export function summarize({ what, samples }: Samples): Summary {
  const sorted = samples.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const lower = sorted[Math.ceil(middle) - 1]
  const upper = sorted[Math.floor(middle)]
  const min = sorted[0]
  const max = sorted.at(-1)
  if (lower === undefined || upper === undefined || min === undefined || max === undefined) {
    throw new RangeError(`Expected at least one sample of ${what}, got none`)
  }
  return { median: (lower + upper) / 2, min, max }
}

/** Median over the peer's median; undefined without a peer, or with a peer of 0. */
export function ratioOf(measurement: Measurement): number | undefined {
  if (!measurement.peer) return undefined
  const peer = summarize(measurement.peer).median
  return peer === 0 ? undefined : summarize(measurement).median / peer
}
