/** The check run of a head: its identity, and its content while there is no verdict. Pure. */
import { modelOfPool } from '../fleet/pools.ts'
import type { Run } from '../runs/run.ts'
import { causeOf } from '../runs/run-identity.ts'
import type { CheckRunResource } from './github-payloads.ts'

/** The name of the check run in GitHub's list and in branch protection. */
export const CHECK_RUN_NAME = 'Muster'

/** Identity of a head's check run, also of its verdict: under another the check run in progress would stay for ever. */
export function checkRunIdentity(subject: {
  readonly repository: { readonly id: number }
  readonly number: number
  readonly head: string
}): { name: string; head: string; externalId: string } {
  const { repository, number, head } = subject
  return { name: CHECK_RUN_NAME, head, externalId: `muster:v1:${repository.id}:${number}:${head}` }
}

function emptyCheckRun(run: Run) {
  return { kind: 'check_run', ...checkRunIdentity(run), text: '', annotations: [] } as const
}

/** The check run while reviews wait for a throttled model; more tries follow the next. Times are ms UTC. */
export function parkedCheckRun(
  run: Run,
  parking: { readonly pool: string; readonly since: number; readonly nextTry: number; readonly givenUpAt: number },
): CheckRunResource {
  const { pool, since, nextTry, givenUpAt } = parking
  const lenses = Object.entries(run.pools ?? {}).flatMap(([lens, of]) => (of === pool ? [lens] : []))
  const model = modelOfPool(pool) ?? pool
  return {
    ...emptyCheckRun(run),
    status: 'in_progress',
    title: `Parked since ${minuteOf(since)}, next try ${minuteOf(nextTry)}`,
    summary: [
      `The model \`${model}\` asks for patience, and ${run.head.slice(0, 7)} waits for it to be read by ${lenses.join(', ')}.`,
      `It is tried again at ${minuteOf(nextTry)}, and from time to time after that.`,
      `What was not read by ${minuteOf(givenUpAt)} is given up, and named.`,
    ].join(' '),
  }
}

/** `2026-01-05 09:30 UTC`: readers may be anywhere. */
function minuteOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The check run while the reviews run. */
export function inProgressCheckRun(run: Run, lenses: readonly string[]): CheckRunResource {
  return {
    ...emptyCheckRun(run),
    status: 'in_progress',
    title: 'Reviewing',
    summary: `${run.head.slice(0, 7)} is being read by ${lenses.length === 0 ? 'no lens' : lenses.join(', ')}.`,
  }
}

/** The check run of a run without a verdict: never green, and with the reason (PR2, PR3, D3). */
export function endedCheckRun(run: Run): CheckRunResource {
  const failed = run.outcome === 'failed'
  const sentence = run.reason?.sentence ?? 'The run ended without a verdict.'
  return {
    ...emptyCheckRun(run),
    status: 'completed',
    conclusion: failed ? 'neutral' : 'cancelled',
    title: failed ? 'Not reviewed' : `Not reviewed: ${run.outcome ?? 'ended'}`,
    summary: failed
      ? `${sentence} (\`${run.reason?.code ?? 'failed'}\`)\n\nThis is no verdict. Comment \`/muster ${commandAfter(run)}\`, or push, to have the head reviewed.`
      : sentence,
  }
}

/** A retry finds only the head's own run; the run of a comment or a description may be unknown by then. */
function commandAfter({ cause, head, baseRef }: Run): 'retry' | 'review' {
  return cause === causeOf.head(head, baseRef) ? 'retry' : 'review'
}
