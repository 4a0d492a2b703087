/** A large repository with a merge whose second parent changes many files of every kind: code, workflows, renames, binaries. */
import { type FileChange, makeRepository } from './history.ts'

/** Files of the base. */
const FILES = 20_000
const FILES_PER_FOLDER = 100
const LINES_PER_FILE = 60
/** Changed lines of a changed code file. */
const LINES_CHANGED = 20
/** Lines of a new file. */
const LINES_ADDED = 400
const BINARY_BYTES = 200_000

/** Changed files by kind, 200 in all. */
const CHANGED = {
  code: 90,
  added: 20,
  workflow: 10,
  renamed: 20,
  deleted: 20,
  binary: 10,
  nonAscii: 20,
  documentation: 10,
} as const

export const LARGE_FILES_CHANGED = Object.values(CHANGED).reduce((sum, count) => sum + count, 0)
export const LARGE_FILES = FILES

type Files = Iterable<readonly [string, FileChange]>

/** Makes the bare repository in `directory`; `HEAD` is the merge, `HEAD^2` the change. */
export async function makeLargeRepository(directory: string): Promise<void> {
  await makeRepository(directory, [
    { branch: 'main', message: 'Everything so far\n', parents: [], files: base() },
    { branch: 'change', message: 'Change many files\n\nOne of each kind, and more.\n', parents: [0], files: change() },
    { branch: 'main', message: 'Go on\n', parents: [0], files: [['README.md', '# Large\n\nStill growing.\n']] },
    { branch: 'main', message: 'Merge the change\n', parents: [2, 1], files: change() },
  ])
}

function* base(): Files {
  yield ['README.md', '# Large\n']
  for (let index = 0; index < FILES; index += 1) yield [pathOf(index), code(index, LINES_PER_FILE)]
  for (let index = 0; index < CHANGED.workflow; index += 1) yield [workflowPath(index), workflow('main')]
  for (let index = 0; index < CHANGED.binary; index += 1) yield [`assets/image${index}.bin`, binary(index)]
}

/** Each file changes in one way, so that the kinds add up. */
function* change(): Files {
  let next = 0
  const take = (count: number) => {
    next += count
    return Array.from({ length: count }, (_, index) => (next - count + index) * (FILES / LARGE_FILES_CHANGED))
  }
  for (const index of take(CHANGED.code)) yield [pathOf(index), code(index, LINES_PER_FILE, LINES_CHANGED)]
  for (const index of take(CHANGED.renamed)) {
    yield [`moved/file${index}.ts`, { from: pathOf(index), content: code(index, LINES_PER_FILE, 1) }]
  }
  for (const index of take(CHANGED.deleted)) yield [pathOf(index), null]
  for (let index = 0; index < CHANGED.added; index += 1) yield [`src/new/file${index}.ts`, code(index, LINES_ADDED)]
  for (let index = 0; index < CHANGED.workflow; index += 1) yield [workflowPath(index), workflow('release')]
  for (let index = 0; index < CHANGED.binary; index += 1) yield [`assets/image${index}.bin`, binary(index + 1)]
  for (let index = 0; index < CHANGED.nonAscii; index += 1)
    yield [`src/größe/файл-${index}-名前.ts`, code(index, LINES_PER_FILE)]
  for (let index = 0; index < CHANGED.documentation; index += 1)
    yield [`docs/page${index}.md`, `# Page ${index}\n\nNaïve café, 日本語.\n`]
}

function pathOf(index: number): string {
  return `src/folder${Math.floor(index / FILES_PER_FOLDER)}/file${index}.ts`
}

function workflowPath(index: number): string {
  return `.github/workflows/check${index}.yml`
}

/** The first `changed` lines differ from those of the unchanged file. */
function code(file: number, lines: number, changed = 0): string {
  return Array.from(
    { length: lines },
    (_, line) => `export const value${line} = compute(${file}, ${line}${line < changed ? ', { again: true }' : ''})\n`,
  ).join('')
}

/** Bytes that no diff shows as text. */
function binary(seed: number): Uint8Array {
  return Uint8Array.from({ length: BINARY_BYTES }, (_, index) => (index * 31 + seed * 7) % 251)
}

/** The step has an unclosed expression, which a linter of workflows finds. */
function workflow(branch: string): string {
  return `on:
  push:
    branches: [${branch}]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - run: echo "\${{ github.sha }}"
      - run: echo "\${{ github.${branch} }}"
`
}
