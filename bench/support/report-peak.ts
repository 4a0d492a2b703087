/** Preloaded into a measured process (`--import`): reports the peak of its size at its end. */
import { writeFileSync } from 'node:fs'

/** The variable with the report's path, set by the bench. */
export const PEAK_FILE_VARIABLE = 'BENCH_PEAK_FILE'

export interface Peak {
  /** Peak of the resident memory of the process with all its threads, bytes. */
  readonly peakBytes: number
  /** Processor time of all threads, ms. */
  readonly processorMs: number
}

const BYTES_PER_KIB = 1_024
const MICROSECONDS_PER_MS = 1_000
const file = process.env[PEAK_FILE_VARIABLE]

if (file !== undefined) {
  process.once('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    const peak: Peak = {
      peakBytes: maxRSS * BYTES_PER_KIB,
      processorMs: (userCPUTime + systemCPUTime) / MICROSECONDS_PER_MS,
    }
    writeFileSync(file, JSON.stringify(peak))
  })
}
