/** A verdict that stands and whose review was never said: as its run says it now. Pure. */
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'

/**
 * What stands at this head, perhaps brought up to date by an edited description, under the name and as the round of the run
 * whose `own` conclusion this was, so that the next plan finds the message that says it: `saidIn`. `said` are fingerprints
 * that need no comment.
 */
export function saidByRun(
  standing: Conclusion,
  own: Conclusion,
  { saidIn, said }: { saidIn: string; said: readonly string[] },
): Conclusion {
  const { kindReason: _another, ...verdict } = standing
  const { runId, planKey, kind, round } = own
  const known = new Set([...standing.saidBefore, ...said])
  const saidBefore = standing.findings.map(({ fingerprint }) => fingerprint).filter((each) => known.has(each))
  return { ...verdict, runId, planKey, kind, round, saidIn, saidBefore }
}
