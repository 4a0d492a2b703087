/** Whether a call of Conclude comes too late to conclude its run. Pure. */
import type { Run } from '../../../shared/runs/run.ts'

export type SettledOutcome = 'superseded' | 'held' | 'shown'

/** The answer for a run that has moved on, as it was read; undefined for a run that can conclude or has concluded. */
export function settledOutcome(run: Run | undefined, attempt: number): SettledOutcome | undefined {
  if (!run || run.attempt !== attempt || run.state === 'ending') return 'superseded'
  if (run.state === 'held') return 'held'
  if (run.state === 'ended') return run.outcome === 'reviewed' ? 'shown' : 'superseded'
  return undefined
}
