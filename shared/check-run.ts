/** The check run of a head: who it is, and what it shows before there is a verdict and when there will be none. Pure. */
import type { Run } from './run.ts'
import type { CheckRunResource } from './shown.ts'

/** Name under which people find it among other checks, and may require it. */
export const CHECK_RUN_NAME = 'Muster'

/**
 * Identity of a head's check run at GitHub, derived from repository, pull request and head (DESIGN §9). A verdict carries
 * the same one: with another, the check run that is in progress would stay so beside it for ever.
 */
export function checkRunIdentity(subject: {
  readonly repository: { readonly id: number }
  readonly number: number
  readonly head: string
}): { name: string; head: string; externalId: string } {
  const { repository, number, head } = subject
  return { name: CHECK_RUN_NAME, head, externalId: `muster:v1:${repository.id}:${number}:${head}` }
}

/** While the reviews run. */
export function inProgressCheckRun(run: Run, lenses: readonly string[]): CheckRunResource {
  return {
    kind: 'check_run',
    ...checkRunIdentity(run),
    status: 'in_progress',
    title: 'Reviewing',
    summary: `${run.head.slice(0, 7)} is being read by ${lenses.length === 0 ? 'no lens' : lenses.join(', ')}.`,
    text: '',
    annotations: [],
  }
}

/** When a run ends without a verdict: never green, and with the reason (PR2, PR3, D3). */
export function endedCheckRun(run: Run): CheckRunResource {
  const failed = run.outcome === 'failed'
  const sentence = run.reason?.sentence ?? 'The run ended without a verdict.'
  return {
    kind: 'check_run',
    ...checkRunIdentity(run),
    status: 'completed',
    conclusion: failed ? 'neutral' : 'cancelled',
    title: failed ? 'Not reviewed' : `Not reviewed: ${run.outcome ?? 'ended'}`,
    summary: failed
      ? `${sentence} (\`${run.reason?.code ?? 'failed'}\`)\n\nNothing is known about this head. Deliver its webhook again, or push, to have it reviewed.`
      : sentence,
    text: '',
    annotations: [],
  }
}
