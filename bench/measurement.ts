/** What a bench reports: samples in one unit, with those of a peer beside them, and how they are summed up. */

export interface Samples {
  readonly what: string
  /** At least one; every one of them is kept, nothing is discarded as an outlier. */
  readonly samples: readonly number[]
}

export interface Measurement extends Samples {
  /** Heading under which it is printed; measurements of one group stand together. */
  readonly group?: string
  /** Unit of the samples, and of the peer's. */
  readonly unit: string
  /** What it is compared with: another library measured the same way, a budget, a limit. */
  readonly peer?: Samples
}

export interface Bench {
  /** As it is chosen on the command line. */
  readonly name: string
  /** One sentence: what is measured, and against what. */
  readonly measures: string
  /** Resolves when everything that it started has ended. Rejects if something that was to be measured did not happen. */
  run(workspace: Workspace): Promise<Outcome>
}

export interface Workspace {
  /** An empty folder of this bench's own; removed afterwards. */
  readonly directory: string
  /** Folder of synthesized assemblies, shared by all benches. */
  readonly cacheDirectory: string
  /** Aborts when the bench has used up its time: loads stop by themselves. */
  readonly signal: AbortSignal
}

export interface Outcome {
  readonly measurements: readonly Measurement[]
  /** Sentences below the table: what the numbers hold and what they don't, problems found. */
  readonly notes: readonly string[]
}

export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Throws a RangeError without samples: a median of nothing would be printed as a number. */
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

/** Median over the peer's median; undefined without a peer, or with one of 0. */
export function ratioOf(measurement: Measurement): number | undefined {
  if (!measurement.peer) return undefined
  const peer = summarize(measurement.peer).median
  return peer === 0 ? undefined : summarize(measurement).median / peer
}
