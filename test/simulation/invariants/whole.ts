/** Nothing is lost, nothing is doubled: each accepted live head is reviewed once, or the run gives a reason. */
import type { Judge } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { HALTS, type HaltsItem, isHalted, type RunItem, runKey } from './items.ts'
import { reviewMarkerIn } from './marker.ts'
import type { AnswerView, History, View } from './view.ts'

interface Delivered {
  readonly repositoryId: number
  readonly number: number
  readonly head: string | undefined
  readonly runId: string
}

export function wholeInvariant(view: View, judge: Judge): Invariant {
  let seen = 0
  return {
    afterStep() {
      for (; seen < view.github.writes.length; seen += 1) {
        const { kind, repository, number } = view.github.writes[seen] ?? {}
        if (kind === 'review_submitted' && repository !== undefined && number !== undefined)
          notDoubled(repository, number)
      }
    },
    atRest() {
      const runs = view.table.items('RUN#', 'RUN') as unknown as readonly RunItem[]
      const delivered = view.answers.flatMap((answer) => deliveredBy(answer) ?? [])
      for (const delivery of delivered) {
        const run = view.table.item(runKey(delivery.runId))
        judge.holds(run !== undefined, 'A delivery was accepted, and its run is not there.', () => ({ delivery }))
      }
      for (const pull of view.history.pulls) notLost(pull, runs, delivered)
      for (const run of runs) cancelledBySomebody(run)
      startedOnce()
    },
  }

  function notDoubled(repository: string, number: number): void {
    const { reviews } = view.github.pullRequest(repository, number)
    const markers = reviews
      .filter(({ pending, author }) => !pending && author.login === view.github.ourLogin)
      .map(({ body }) => reviewMarkerIn(body))
    const doubled = markers.filter((marker, index) => markers.indexOf(marker) !== index)
    judge.holds(doubled.length === 0, 'A review was said twice.', () => ({ repository, number, doubled }))
  }

  function notLost(pull: History['pulls'][number], runs: readonly RunItem[], delivered: readonly Delivered[]): void {
    const { state, draft, head } = view.github.pullRequest(pull.repository, pull.number)
    if (state !== 'open' || draft) return
    const isOfPull = (each: Delivered) => each.repositoryId === pull.repositoryId && each.number === pull.number
    const asked = delivered.filter((each) => isOfPull(each) && each.head === head.sha).map(({ runId }) => runId)
    if (asked.length === 0) return
    judge.looked()
    const ofPull = runs.filter((run) => run.repository.id === pull.repositoryId && run.number === pull.number)
    // A run that only read the edited description is no answer to the request for a review of the head.
    const isFull = ofPull.some((run) => run.kind === 'full' && asked.includes(run.runId))
    const ofHead = ofPull.filter((run) => run.head === head.sha && (run.kind === 'full' || !isFull))
    const facts = () => ({ pull, head: head.sha, runs: ofHead })
    judge.holds(ofHead.some(isSettled), 'A live head was accepted and is neither reviewed nor is it said why.', facts)
  }

  /** Superseded or closed is no answer for a live head. */
  function isSettled(run: RunItem): boolean {
    if (run.state !== 'ended')
      return isHalted(view.table.item(HALTS) as unknown as HaltsItem | undefined, run.repository)
    if (run.outcome === 'reviewed') return true
    return (run.outcome === 'failed' || run.outcome === 'cancelled') && run.reason !== undefined
  }

  function cancelledBySomebody(run: RunItem): void {
    if (run.outcome !== 'cancelled') return
    const isAsked = view.history.cancels.some(
      ({ repositoryId, number }) => repositoryId === run.repository.id && number === run.number,
    )
    judge.holds(isAsked, 'A run was cancelled that nobody cancelled.', () => ({ run }))
  }

  /** Each attempt of a run has one execution. */
  function startedOnce(): void {
    const inputs = view.executions().map(({ input }) => {
      const { runId, attempt } = JSON.parse(input) as { runId: string; attempt: number }
      return `${runId} ${attempt}`
    })
    const doubled = inputs.filter((input, index) => inputs.indexOf(input) !== index)
    judge.holds(doubled.length === 0, 'An attempt was started twice.', () => ({ doubled }))
  }
}

/** The run that an accepted webhook of a pull request became; undefined for every other answer. */
function deliveredBy({ webhook, status, body }: AnswerView): Delivered | undefined {
  if (status !== 202 || webhook.event !== 'pull_request') return undefined
  const { run: runId } = JSON.parse(body) as { run?: string }
  if (runId === undefined) return undefined
  const { repository, number, pull_request } = JSON.parse(webhook.body) as {
    repository: { id: number }
    number: number
    pull_request: { head: { sha?: string } }
  }
  return { repositoryId: repository.id, number, head: pull_request.head.sha, runId }
}
