/** I6: findings in = posted + rejected + merged, and every open finding has a disposition. */
import type { PlainItem } from '../services/table.ts'
import { type Adopted, adoptedBy, type FindingSaid, fingerprintsOf } from './adopted.ts'
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { pullPartition, type RunItem } from './items.ts'
import { countsIn } from './marker.ts'
import { resourcesOf } from './resources.ts'
import type { View } from './view.ts'

/** Inline comments of one review; further findings stand in the summary. */
const INLINE_MAX = 60

export function findingsInvariant(view: View, judge: Judge): Invariant {
  const judged = new Set<string>()
  return {
    watch: {
      run(change) {
        const adopted = adoptedBy(view, judge, judged, change)
        if (!adopted) return
        judge.looked()
        if (!adopted.isShownAgain) {
          judgeSum(adopted)
          judgeOpen(adopted)
        }
        judgeMessage(adopted)
        judgeSaid(adopted)
        judgeOnce(adopted)
        judgeSummary(adopted)
      },
    },
  }

  function judgeSum({ run, plan, conclusion, results }: Adopted): void {
    const placed = new Set(plan.reviews.map(({ lens }) => lens))
    const counted = conclusion.lenses.filter(({ lens }) => placed.has(lens))
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
    const said = {
      findings: sum(counted.map((lens) => lens.findings)),
      rejected: sum(counted.map((lens) => lens.rejected)),
    }
    const found = {
      findings: sum(results.map(({ findings }) => findings.length)),
      rejected: sum(results.map(({ rejected }) => rejected.length)),
    }
    const facts = () => ({ run, said, found, merged: conclusion.merged, findings: conclusion.findings })
    const isWhole = counted.every(({ state }) => state === 'read')
    const isExact = said.findings === found.findings && said.rejected === found.rejected
    const isFewer = said.findings <= found.findings && said.rejected <= found.rejected
    // A review of a partly read lens may complete after the conclusion has counted its findings.
    judge.holds(isExact || (!isWhole && isFewer), 'A conclusion counts other findings than its reviews have.', facts)
    judge.holds(conclusion.rejected.length === said.rejected, 'Rejected findings were lost, or added.', facts)
    if (!isExact) return
    const claimed = [...results.flatMap(({ findings }) => findings), ...plan.carried]
    const distinct = fingerprintsOf(claimed)
    const posted = fingerprintsOf(conclusion.findings)
    judge.holds(posted.size === conclusion.findings.length, 'A finding is posted twice.', facts)
    const lost = [...distinct].filter((fingerprint) => !posted.has(fingerprint))
    judge.holds(lost.length === 0, 'A finding is neither posted, rejected nor merged.', () => ({ ...facts(), lost }))
    judge.holds(claimed.length - distinct.size === conclusion.merged, 'Merged findings are miscounted.', facts)
  }

  function judgeOpen({ run, plan, conclusion }: Adopted): void {
    const answered = fingerprintsOf([...conclusion.findings, ...conclusion.dispositions.map(({ finding }) => finding)])
    const lost = plan.openFindings.filter(({ fingerprint }) => !answered.has(fingerprint))
    judge.holds(lost.length === 0, 'An open finding was not answered.', () => ({ run, lost }))
  }

  /** Each new finding with lines has an inline comment in the run's message. */
  function judgeMessage({ run, plan, conclusion }: Adopted): void {
    if (plan.kind === 'analyzers') return
    const unseen = conclusion.dispositions.filter(({ verb }) => verb === 'not_looked_at')
    const known = new Set([...conclusion.announcedBefore, ...unseen.map(({ finding }) => finding.fingerprint)])
    const fresh = conclusion.findings.filter((finding) => !known.has(finding.fingerprint) && isAnchored(finding))
    const text = textOf(messagesOf(run, run.runId))
    const missing = fresh.slice(0, INLINE_MAX).filter((finding) => !hasComment(text, finding))
    judge.holds(missing.length === 0, 'A finding with lines is in no message.', () => ({ run, missing }))
  }

  /** An announced finding stands in a `said` review. A withdrawn or failed review announces nothing (IL2). */
  function judgeSaid({ run, conclusion }: Adopted): void {
    const said = new Set(conclusion.announcedBefore)
    const counted = conclusion.findings.filter((finding) => said.has(finding.fingerprint) && isAnchored(finding))
    const text = textOf(messagesOf(run).filter(({ state }) => state === 'said'))
    const missing = counted.filter((finding) => !hasComment(text, finding))
    judge.holds(missing.length === 0, 'A finding counts as said and stands in no review.', () => ({ run, missing }))
  }

  /**
   * A finding that was announced at its own head and has stayed open since is not announced again (D9). Only the
   * model's findings are judged: analyzers of the simulated world may find something once and nothing the next time at
   * one head.
   */
  function judgeOnce({ run, plan, conclusion }: Adopted): void {
    const open = fingerprintsOf(plan.openFindings)
    const known = new Set(conclusion.announcedBefore)
    const said = messagesOf(run)
      .filter(({ state }) => state === 'said')
      .map(textOfMessage)
    const again = conclusion.findings.filter(
      (finding) =>
        finding.lens === 'correctness' &&
        open.has(finding.fingerprint) &&
        !known.has(finding.fingerprint) &&
        said.some((text) => hasComment(text, finding) && text.includes(`"head":"${finding.originHead}"`)),
    )
    judge.holds(again.length === 0, 'A finding that was said is said again.', () => ({ run, again }))
  }

  /** All messages of the pull request, or those of one run. */
  function messagesOf({ repository, number }: RunItem, runId?: string): readonly PlainItem[] {
    const pk = pullPartition({ repositoryId: repository.id, number })
    const prefix = runId === undefined ? 'MESSAGE#' : `MESSAGE#${runId}#`
    return view.table.items(pk, prefix).filter((item) => item.pk === pk)
  }

  function textOf(messages: readonly PlainItem[]): string {
    return messages.map(textOfMessage).join('\n')
  }

  function textOfMessage({ document }: PlainItem): string {
    return view.document(String(document)) ?? ''
  }

  /** The counts in the summary's block for programs equal the conclusion's. */
  function judgeSummary({ run, conclusion }: Adopted): void {
    const pull = { repositoryId: run.repository.id, number: run.number }
    const summary = resourcesOf(view, pull).find(({ kind }) => kind === 'summary')
    const counts = summary && countsIn(String(summary.desired.body))
    if (!counts) return
    const concluded = {
      findings: conclusion.findings.length,
      rejected: conclusion.rejected.length,
      merged: conclusion.merged,
    }
    const isSame = Object.entries(concluded).every(([name, count]) => Reflect.get(counts, name) === count)
    judge.holds(isSame, 'The summary counts other findings than were concluded.', () => ({ run, counts, concluded }))
  }
}

function isAnchored({ location }: FindingSaid): boolean {
  return location.kind === 'lines' && location.inDiff === true
}

function hasComment(text: string, { fingerprint }: FindingSaid): boolean {
  return text.includes(`muster:v1 finding ${fingerprint} `)
}
