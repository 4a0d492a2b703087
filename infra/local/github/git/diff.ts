/** The changes between two commits: the list of files with their counts, and the patches of a page of files. */
import { type Change, type ChangeList, LISTED_FILES_MAX } from './git.ts'
import { fieldsOf, streamGit } from './process.ts'

/** "No single file's diff may exceed 20,000 lines … or 500 KB": docs.github.com, limits for viewing content and diffs. */
const PATCH_LINES_MAX = 20_000
const PATCH_BYTES_MAX = 500 * 1_024

const LINE_FEED = 0x0a

const PLAIN_DIFF = ['diff-tree', '-r', '--no-commit-id', '--no-ext-diff', '--no-textconv', '--no-color', '--full-index']
const RENAMES = '--find-renames=50%' // as on GitHub, a file counts as renamed when half of the file is unchanged

/** All changes from `base` to `head`. Changes beyond the listing's maximum are counted, and not held in memory. */
export async function listChanges(gitDirectory: string, base: string, head: string): Promise<ChangeList> {
  const command = [...PLAIN_DIFF, '-z', '--raw', '--numstat', RENAMES, base, head]
  const list: ChangeList = { changes: [], fileCount: 0, additions: 0, deletions: 0 }
  const fields = fieldsOf(streamGit(gitDirectory, command))
  const field = async () => String((await fields.next()).value ?? '')
  let counted = 0
  for await (const first of fields) {
    if (first.startsWith(':')) {
      const change = rawChange(first, await field())
      if (change.status === 'renamed') {
        change.previousPath = change.path
        change.path = await field()
      }
      if (list.fileCount < LISTED_FILES_MAX) list.changes.push(change)
      list.fileCount += 1
    } else {
      const [additions = '', deletions = '', path = ''] = first.split('\t')
      if (path === '') {
        await field() // a rename's two paths follow in fields of their own
        await field()
      }
      const change = list.changes[counted]
      counted += 1
      const added = count(additions)
      const deleted = count(deletions)
      if (change !== undefined) Object.assign(change, { additions: added, deletions: deleted })
      list.additions += added
      list.deletions += deleted
    }
  }
  return list
}

/**
 * The patches of some changes, from the first hunk header on, without the last line feed. A change has no patch if the
 * file is binary, no line changes, or the patch is larger than GitHub shows. Memory: at most one patch's limit for each
 * change.
 */
export async function readPatches(
  gitDirectory: string,
  base: string,
  head: string,
  changes: readonly Change[],
): Promise<Map<Change, string>> {
  const patches = new Map<string, string>()
  const renamed = changes.filter((change) => change.previousPath !== null)
  const others = changes.filter((change) => change.previousPath === null)
  // git searches renames among the renamed files alone: in a part of the change list, git could pair other files.
  for (const [option, group] of [
    [RENAMES, renamed],
    ['--no-renames', others],
  ] as const) {
    if (group.length === 0) continue
    const paths = group.flatMap(({ path, previousPath }) => (previousPath === null ? [path] : [previousPath, path]))
    const output = streamGit(gitDirectory, [...PLAIN_DIFF, '-p', '-U3', option, base, head, '--', ...paths])
    for await (const { blobs, patch } of sectionsOf(output)) patches.set(blobs, patch)
  }
  const found = new Map<Change, string>()
  for (const change of changes) {
    const patch = change.status === 'changed' ? undefined : patches.get(`${change.oldSha}..${change.newSha}`)
    if (patch !== undefined) found.set(change, patch)
  }
  return found
}

/**
 * A patch depends on its two blobs alone, so the blobs identify the patch; paths in headers would have to be unquoted.
 */
interface Section {
  blobs: string
  patch: string
}

async function* sectionsOf(output: AsyncIterable<Buffer>): AsyncGenerator<Section> {
  let blobs = ''
  let lines: Buffer[] = []
  let bytes = 0
  const tooLarge = () => lines.length > PATCH_LINES_MAX || bytes > PATCH_BYTES_MAX
  const finished = (): Section | null =>
    blobs === '' || lines.length === 0 || tooLarge()
      ? null
      : { blobs, patch: Buffer.concat(lines).toString('utf8').replace(/\n$/, '') }

  for await (const line of linesOf(output)) {
    if (startsWith(line, 'diff --git ')) {
      const section = finished()
      if (section !== null) yield section
      blobs = ''
      lines = []
      bytes = 0
    } else if (lines.length === 0 && startsWith(line, 'index ')) {
      blobs = line.toString('latin1').split(' ')[1]?.trim() ?? ''
    } else if ((lines.length > 0 || startsWith(line, '@@ ')) && !tooLarge()) {
      lines.push(line)
      bytes += line.length
    }
  }
  const section = finished()
  if (section !== null) yield section
}

/** Lines with their line feeds. A line beyond any patch's limit arrives cut, just beyond that limit. */
async function* linesOf(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of output) {
    let from = 0
    while (from < chunk.length) {
      const feed = chunk.indexOf(LINE_FEED, from)
      const end = feed === -1 ? chunk.length : feed + 1
      if (bytes <= PATCH_BYTES_MAX) pieces.push(chunk.subarray(from, end))
      bytes += end - from
      from = end
      if (feed === -1) continue
      yield joined(pieces)
      pieces = []
      bytes = 0
    }
  }
  if (bytes > 0) yield joined(pieces)
}

/** Nearly every line lies in one chunk: to copy all lines would cost more than all other work here. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
}

function startsWith(line: Buffer, text: string): boolean {
  return line[0] === text.charCodeAt(0) && line.subarray(0, text.length).toString('latin1') === text
}

/** `:<old mode> <new mode> <old sha> <new sha> <status>` and the first path. */
function rawChange(header: string, path: string): Change {
  const [, , oldSha = '', newSha = '', letter = ''] = header.split(' ')
  return { status: statusOf(letter), path, previousPath: null, oldSha, newSha, additions: 0, deletions: 0 }
}

function statusOf(letter: string): Change['status'] {
  switch (letter[0]) {
    case 'A':
      return 'added'
    case 'D':
      return 'removed'
    case 'R':
      return 'renamed'
    case 'T':
      return 'changed' // a file became a link, or the other way round
    default:
      return 'modified'
  }
}

/** Git prints `-` for a binary file; GitHub counts no lines there. */
function count(text: string): number {
  return text === '-' ? 0 : Number(text)
}
