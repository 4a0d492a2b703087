/** Muster's summary comment on a pull request of the stand-in. Pure. */
import type { PullRequestSnapshot } from '../infra/local/github/snapshot.ts'

/** The hidden lines for Muster itself and for programs. Only whole lines: text quoted by a finding stays. */
const HIDDEN_LINE = /^<!-- muster:v1 .*-->\n?/gm
const CONCLUDED_RUN = /^<!-- muster:v1 data \{"run":"([0-9a-f]{64})"/m
const SUMMARY_MARKER = /^<!-- muster:v1 summary /m

/** The summary as Markdown for people; empty without a summary. */
export function summaryMarkdown(pull: PullRequestSnapshot): string {
  return (summaryOf(pull) ?? '').replace(HIDDEN_LINE, '').trimEnd()
}

/** Id of the run whose conclusion the summary shows. */
export function concludedRun(pull: PullRequestSnapshot): string | undefined {
  return CONCLUDED_RUN.exec(summaryOf(pull) ?? '')?.[1]
}

function summaryOf(pull: PullRequestSnapshot): string | undefined {
  return pull.issueComments.find(({ author, body }) => author.type === 'Bot' && SUMMARY_MARKER.test(body))?.body
}
