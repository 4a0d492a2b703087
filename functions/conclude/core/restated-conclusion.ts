/** A verdict that stands and whose review was never said: as its run says it now. Pure. */
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'

/**
 * What stands at this head, perhaps brought up to date by an edited description, under the name and as the round of the run
 * whose `own` conclusion this was, so that the next plan finds the message that says it: `announcedIn`. `announced` are fingerprints
 * that need no comment.
 */
export function restatedConclusion(
  standing: Conclusion,
  own: Conclusion,
  { announcedIn, announced }: { announcedIn: string; announced: readonly string[] },
): Conclusion {
  const { kindReason: _another, ...verdict } = standing
  const { runId, planKey, kind, round } = own
  const earlier = new Set([...standing.announcedBefore, ...announced])
  const announcedBefore = standing.findings.map(({ fingerprint }) => fingerprint).filter((each) => earlier.has(each))
  return { ...verdict, runId, planKey, kind, round, announcedIn, announcedBefore }
}
