/** Keeps the summary comment and the label of a pull request true: read, changed only if different, read back. */
import { LABELS, type LabelResource, markerOf, type SummaryResource } from '../publishing/github-payloads.ts'
import { notVisible, orUnanswered, orUnknown, type Unknown } from '../publishing/outcome.ts'
import type { CommentSeen, GitHub, Repo } from './github.ts'

export interface Kept {
  readonly state: 'shown'
  /** GitHub's id; absent for a label, which has no id of its own on a pull request. */
  readonly id?: number
  /** The generation on GitHub, newer than ours after a newer poster. Summary only. */
  readonly generation?: number
}

export interface SummaryPlace {
  readonly repo: Repo
  readonly repositoryId: number
  readonly number: number
  /** The recorded id of the comment, for a pull request with more comments than are listed. */
  readonly knownId?: number | undefined
}

/**
 * Brings the one summary comment of a pull request to `generation` or newer. A comment with the marker *and* our own
 * author is ours (F5, D12, AW71). The oldest of several stays, the others go. A failed read leads to no write (D15).
 */
export async function keepSummary(
  github: GitHub,
  place: SummaryPlace,
  desired: SummaryResource,
  generation: number,
): Promise<Kept | Unknown> {
  const { repo, number } = place
  const marker = markerOf.summary(place.repositoryId, number, generation)
  const body = `${desired.body}\n${marker}`

  return orUnknown<Kept>(async () => {
    const [before, ...copies] = await ownSummaries(github, place)
    if (before === undefined) {
      await orUnanswered(github.createComment(repo, number, body))
    } else if (before.generation < generation || (before.generation === generation && !sameText(before.body, body))) {
      await orUnanswered(github.updateComment(repo, before.id, body))
    }
    for (const copy of copies) await orUnanswered(github.deleteComment(repo, copy.id))

    const [after, ...left] = await ownSummaries(github, place)
    if (after === undefined || after.generation < generation || left.length > 0) throw notVisible('the summary comment')
    return { state: 'shown', id: after.id, generation: after.generation }
  })
}

/** Brings a pull request to exactly one of our three labels, or to none; foreign labels stay. */
export async function keepLabel(
  github: GitHub,
  repo: Repo,
  number: number,
  desired: LabelResource,
): Promise<Kept | Unknown> {
  const wanted: readonly string[] = desired.label === 'none' ? [] : [desired.label]
  return orUnknown<Kept>(async () => {
    const before = await ownLabels(github, repo, number)
    if (isEqual(before, wanted)) return { state: 'shown' }
    // The new label first: a pull request with a label is never seen without any.
    for (const label of wanted) {
      if (!before.includes(label)) await orUnanswered(github.addLabel(repo, number, label))
    }
    for (const label of before) {
      if (!wanted.includes(label)) await orUnanswered(github.removeLabel(repo, number, label))
    }
    if (!isEqual(await ownLabels(github, repo, number), wanted)) throw notVisible('the label')
    return { state: 'shown' }
  })
}

/** GitHub may change line ends and the white space at both ends, and nothing else (AW71). */
export function sameText(a: string, b: string): boolean {
  return a.replace(/\r\n/g, '\n').trim() === b.replace(/\r\n/g, '\n').trim()
}

interface OwnSummary extends CommentSeen {
  readonly generation: number
}

/** Our summary comments, oldest first. Throws `not_shown` where a cut list has none of them. */
async function ownSummaries(github: GitHub, place: SummaryPlace): Promise<readonly OwnSummary[]> {
  const { rows, cut } = await github.comments(place.repo, place.number)
  const listed = summariesAmong(rows, place)
  if (listed.length > 0 || !cut) return listed
  const known = place.knownId === undefined ? undefined : await github.comment(place.repo, place.knownId)
  const recorded = summariesAmong(known === undefined ? [] : [known], place)
  if (recorded.length > 0) return recorded
  throw notVisible('our summary comment on the pages that are read')
}

function summariesAmong(comments: readonly CommentSeen[], place: SummaryPlace): readonly OwnSummary[] {
  return comments
    .filter((comment) => comment.authorIsUs)
    .flatMap((comment) => {
      const generation = generationOf(comment.body, place)
      return generation === undefined ? [] : [{ ...comment, generation }]
    })
    .sort((a, b) => a.id - b.id)
}

/** The generation in the comment's marker, which is the last line. */
function generationOf(body: string, { repositoryId, number }: SummaryPlace): number | undefined {
  const last = body.trimEnd().split(/\r?\n/).at(-1) ?? ''
  const generation = /^<!-- muster:v1 summary \d+#\d+ (\d{1,15}) -->$/.exec(last)?.[1]
  if (generation === undefined) return undefined
  return last === markerOf.summary(repositoryId, number, Number(generation)) ? Number(generation) : undefined
}

async function ownLabels(github: GitHub, repo: Repo, number: number): Promise<readonly string[]> {
  const { rows } = await github.labels(repo, number)
  return rows.filter((label) => LABELS.some((own) => own === label))
}

function isEqual(labels: readonly string[], wanted: readonly string[]): boolean {
  return labels.length === wanted.length && labels.every((label) => wanted.includes(label))
}
