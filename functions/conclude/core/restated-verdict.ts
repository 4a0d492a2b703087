/** The conclusion of a run whose verdict is shown again and whose review GitHub has never shown. Pure. */
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'

/**
 * The `standing` conclusion of the head, which an edited description may have updated, under the name and round of the
 * run's `own` conclusion: by `announcedIn` the next plan finds the message of its findings. Findings in `announced`
 * need no comment.
 */
export function restatedVerdict(
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
