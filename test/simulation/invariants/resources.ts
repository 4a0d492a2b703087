/**
 * Resources of a pull request, as the ledger wants them and as GitHub shows them: check runs of its heads, summary,
 * label.
 */
import type { PullRequestSnapshot } from '../../../infra/local/github/snapshot.ts'
import type { Judge } from './broken.ts'
import { pullPartition } from './items.ts'
import { CHECK_RUN_COPY, LABELS, summaryGenerationIn } from './marker.ts'
import type { History, View } from './view.ts'

/** A resource with its document, from the item of its pull request. */
export interface ResourceWanted {
  readonly kind: string
  readonly key: string
  readonly runId: string
  readonly generation: number
  readonly shownGeneration: number
  /** True if GitHub refuses the resource for good, or must never show the resource: both count as shown. */
  readonly refused: boolean
  readonly desired: Readonly<Record<string, unknown>>
}

/** Every desired resource of a pull request. */
export function resourcesOf(view: View, pull: { repositoryId: number; number: number }): readonly ResourceWanted[] {
  const item = view.table.item({ pk: pullPartition(pull), sk: 'SHOWN' }) ?? {}
  return Object.entries(item).flatMap(([member, value]) => {
    if (!member.startsWith('wanted_')) return []
    const wanted = value as { kind: string; key: string; runId: string; document: string }
    const name = member.slice('wanted_'.length)
    const seen = (item[`shown_${name}`] ?? {}) as { generation?: number; lastError?: string }
    const { kind, key, runId, document } = wanted
    return {
      kind,
      key,
      runId,
      generation: item[`generation_${name}`] as number,
      shownGeneration: seen.generation ?? 0,
      refused: seen.lastError !== undefined,
      desired: JSON.parse(view.document(document) ?? '{}') as Readonly<Record<string, unknown>>,
    }
  })
}

/** Judges what GitHub shows at rest. Under a halt desired resources wait, but nothing is doubled. */
export function shownResources(
  judge: Judge,
  facts: {
    readonly pull: History['pulls'][number]
    readonly shown: PullRequestSnapshot
    readonly resources: readonly ResourceWanted[]
    readonly halted: boolean
    readonly ourLogin: string
  },
): void {
  const { pull, shown, resources, halted, ourLogin } = facts
  for (const resource of resources) {
    const { generation, shownGeneration } = resource
    judge.holds(halted || shownGeneration === generation, 'A resource is not shown at its newest generation.', () => ({
      pull,
      resource,
    }))
  }
  const due = halted ? [] : resources.filter(({ refused }) => !refused)
  judgeCheckRuns()
  judgeSummary()
  judgeLabel()

  function judgeCheckRuns(): void {
    const wantedHeads = new Set(due.flatMap(({ kind, key }) => (kind === 'check_run' ? [key] : [])))
    for (const { headSha, runs } of shown.checkRuns) {
      const mine = runs.filter(
        ({ externalId }) => externalId === `muster:v1:${pull.repositoryId}:${pull.number}:${headSha}`,
      )
      const ours = mine.filter(({ title }) => title !== CHECK_RUN_COPY)
      const seen = () => ({ pull, headSha, runs: mine })
      judge.holds(ours.length <= 1, 'A head has more than one check run of ours.', seen)
      const open = mine.filter(({ status }) => status !== 'completed')
      judge.holds(halted || open.length === 0, 'A check run of ours is left in progress.', seen)
      const wanted = due.find(({ kind, key }) => kind === 'check_run' && key === headSha)?.desired
      if (!wanted) continue
      wantedHeads.delete(headSha)
      const [own] = ours
      const isShown = (['status', 'conclusion', 'title', 'summary'] as const).every((member) =>
        sameText(own?.[member], wanted[member]),
      )
      judge.holds(isShown, 'A check run does not show what is desired.', () => ({ ...seen(), wanted }))
    }
    judge.holds(wantedHeads.size === 0, 'A head has no check run.', () => ({ pull, heads: [...wantedHeads] }))
  }

  function judgeSummary(): void {
    const summaries = shown.issueComments.flatMap(({ author, body, id }) => {
      const generation = author.login === ourLogin ? summaryGenerationIn(body, pull) : undefined
      return generation === undefined ? [] : [{ id, body, generation }]
    })
    const seen = () => ({ pull, summaries })
    judge.holds(halted || summaries.length <= 1, 'A pull request has more than one summary of ours.', seen)
    const wanted = due.find(({ kind }) => kind === 'summary')
    if (!wanted) return
    const [summary] = summaries
    judge.holds(summary?.generation === wanted.generation, 'The summary is not of its newest generation.', () => ({
      ...seen(),
      wanted: wanted.generation,
    }))
    const body = String(wanted.desired.body)
    judge.holds(sameText(summary.body.slice(0, body.length), body), 'The summary says something else.', seen)
  }

  function judgeLabel(): void {
    const labels = shown.labels.filter((label) => LABELS.includes(label))
    const seen = () => ({ pull, labels })
    judge.holds(halted || labels.length <= 1, 'A pull request has more than one of our labels.', seen)
    const wanted = due.find(({ kind }) => kind === 'label')?.desired.label
    if (wanted === undefined) return
    const isShown = wanted === 'none' ? labels.length === 0 : labels[0] === wanted
    judge.holds(isShown, 'The label is not the one that is desired.', () => ({ ...seen(), wanted }))
  }
}

/** GitHub drops white space at the end, and shows an empty text as no text. */
function sameText(shown: unknown, wanted: unknown): boolean {
  return normal(shown) === normal(wanted)
}

function normal(text: unknown): string {
  return String(text ?? '')
    .replaceAll('\r\n', '\n')
    .trimEnd()
}
