/** The outcome of a run that has moved on before Conclude was called. Pure. */
import type { Run } from '../../../shared/runs/run.ts'

export type SettledOutcome = 'superseded' | 'held' | 'shown'

/** Undefined for a run that can conclude, or has concluded. */
export function settledOutcome(run: Run | undefined, attempt: number): SettledOutcome | undefined {
  if (!run || run.attempt !== attempt || run.state === 'ending') return 'superseded'
  if (run.state === 'held') return 'held'
  if (run.state === 'ended') return run.outcome === 'reviewed' ? 'shown' : 'superseded'
  return undefined
}
