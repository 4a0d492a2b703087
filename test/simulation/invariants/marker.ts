/** Hidden markers on GitHub; each marker is a line of its own. */

/** True if the body has `line` as a whole line. */
export function hasLine(body: string, line: string): boolean {
  return body.split(/\r?\n/).includes(line)
}

/** The marker of a review in its body, `<!-- muster:v1 review <run> <plan key> -->`; undefined without a marker. */
export function reviewMarkerIn(body: string): string | undefined {
  return body.split(/\r?\n/).find((line) => /^<!-- muster:v1 review [0-9a-f]{64} [0-9a-f]{64}( a\d+)? -->$/.test(line))
}

/** The generation of the pull request's summary comment; undefined for any other comment. */
export function summaryGenerationIn(body: string, pull: { repositoryId: number; number: number }): number | undefined {
  const marker = new RegExp(`^<!-- muster:v1 summary ${pull.repositoryId}#${pull.number} (\\d+) -->$`)
  const found = body
    .split(/\r?\n/)
    .map((line) => marker.exec(line)?.[1])
    .find((generation) => generation !== undefined)
  return found === undefined ? undefined : Number(found)
}

/** The head in a summary's block for programs; undefined without such a block. */
export function summaryHeadIn(body: string): string | undefined {
  return /<!-- muster:v1 data [^\n]*?"head":"([0-9a-f]{40,64})"/.exec(body)?.[1]
}

/**
 * The title of our second check run at a head: GitHub can't delete a check run, and the title sends readers to the
 * other check run.
 */
export const CHECK_RUN_COPY = 'Shown by another check run of Muster'

export const LABELS: readonly string[] = ['muster: checking', 'muster: action required', 'muster: passed']

/** True if the body is our reply to a comment. */
export function isReplyIn(body: string): boolean {
  return /^<!-- muster:v1 reply \d+ -->$/m.test(body)
}

/** The counts in a summary's block for programs; undefined without such a block. */
export function countsIn(body: string): { findings: number; rejected: number; merged: number } | undefined {
  const block = /<!-- muster:v1 data (\{[^\n]*\}) -->/.exec(body)?.[1]
  const { counts } = block === undefined ? {} : (JSON.parse(block) as { counts?: Record<string, number> })
  if (!counts) return undefined
  const { critical = 0, important = 0, suggestions = 0, rejected = 0, merged = 0 } = counts
  return { findings: critical + important + suggestions, rejected, merged }
}
