/** Keeps the one check run of a head true; annotations beyond the first 50 follow in further requests (S1). */
import { ANNOTATIONS_PER_REQUEST } from '../base/limits.ts'
import type { Annotation, CheckRunResource } from '../publishing/github-payloads.ts'
import { notVisible, orUnanswered, orUnknown, type Unknown } from '../publishing/outcome.ts'
import type { CheckRunChange, CheckRunSeen, GitHub, Repo } from './github.ts'
import { type Kept, sameText } from './keep-resource.ts'

/** Title of a closed second check run on the same head: GitHub can't delete a check run. */
const COPY_TITLE = 'Shown by another check run of Muster'

/**
 * Brings the check run with the external id to `desired`. Of several the oldest stays, and the others are closed. A
 * failed read leads to no write (D15).
 */
export async function keepCheckRun(github: GitHub, repo: Repo, desired: CheckRunResource): Promise<Kept | Unknown> {
  return orUnknown<Kept>(async () => {
    const [before, ...copies] = await ownCheckRuns(github, repo, desired)
    const missing = await missingAnnotations(github, repo, before, desired)
    const { head, externalId } = desired
    const first = { ...desired, annotations: missing.slice(0, ANNOTATIONS_PER_REQUEST) }
    if (before === undefined) {
      const id = await github.createCheckRun(repo, head, externalId, first)
      await append(github, repo, id, desired, missing.slice(ANNOTATIONS_PER_REQUEST))
    } else {
      if (missing.length === 0 && !shows(before, desired))
        await orUnanswered(github.updateCheckRun(repo, before.id, first))
      await append(github, repo, before.id, desired, missing)
    }
    for (const copy of copies.filter((run) => !isClosed(run))) {
      await orUnanswered(github.updateCheckRun(repo, copy.id, closing(desired)))
    }

    const [after, ...left] = await ownCheckRuns(github, repo, desired)
    const settled = left.every(isClosed)
    if (after === undefined || !settled || !shows(after, desired)) throw notVisible('the check run')
    // Annotations of an earlier verdict stay, so the number says only how many have arrived.
    if (after.annotations < (before?.annotations ?? 0) + missing.length) throw notVisible("the check run's annotations")
    return { state: 'shown', id: after.id }
  })
}

async function ownCheckRuns(github: GitHub, repo: Repo, { head, externalId }: CheckRunResource) {
  const { rows, cut } = await github.checkRuns(repo, head, externalId)
  if (rows.length === 0 && cut) throw notVisible('our check run on the pages that are read')
  return rows
}

/** Only missing annotations are sent: GitHub appends and never removes. Equal annotations of two lenses count once. */
async function missingAnnotations(
  github: GitHub,
  repo: Repo,
  seen: CheckRunSeen | undefined,
  { annotations }: CheckRunResource,
): Promise<readonly Annotation[]> {
  const missing = new Map(annotations.map((annotation) => [keyOf(annotation), annotation]))
  if (seen === undefined || seen.annotations === 0 || missing.size === 0) return [...missing.values()]
  const { rows } = await github.checkRunAnnotations(repo, seen.id)
  for (const there of rows) missing.delete(keyOf(there))
  return [...missing.values()]
}

async function append(
  github: GitHub,
  repo: Repo,
  id: number,
  desired: CheckRunResource,
  annotations: readonly Annotation[],
): Promise<void> {
  for (let from = 0; from < annotations.length; from += ANNOTATIONS_PER_REQUEST) {
    const next = annotations.slice(from, from + ANNOTATIONS_PER_REQUEST)
    await orUnanswered(github.updateCheckRun(repo, id, { ...desired, annotations: next }))
  }
}

function shows(seen: CheckRunSeen, desired: CheckRunResource): boolean {
  return (
    seen.name === desired.name &&
    seen.status === desired.status &&
    seen.conclusion === desired.conclusion &&
    sameText(seen.title, desired.title) &&
    sameText(seen.summary, desired.summary) &&
    sameText(seen.text, desired.text)
  )
}

/** A copy created with its result, by a call that landed late, is closed too: no reader sees two results. */
function isClosed(copy: CheckRunSeen): boolean {
  return copy.status === 'completed' && copy.title === COPY_TITLE
}

function closing({ name }: CheckRunResource): CheckRunChange {
  const summary = 'This check run is a second copy. The older check run has the result.'
  return { name, status: 'completed', conclusion: 'cancelled', title: COPY_TITLE, summary, text: '', annotations: [] }
}

function keyOf({ path, startLine, endLine, title, message }: Annotation): string {
  return JSON.stringify([path, startLine, endLine, title, message])
}
