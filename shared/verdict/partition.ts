/**
 * Splits a pull request into reviews: which lens reads which files. Budget goes to risk, not to the alphabet, and every
 * file left out is named with its reason (R5, H4, H5).
 */
import { PART_LINES_MAX, PLAN_REVIEWS_MAX } from '../base/limits.ts'
import { compareTexts } from '../base/text.ts'
import type { LeftOut, LeftOutBecause } from '../findings/coverage.ts'
import { diffLinesOf, type FileChange, type Hunk } from '../findings/diff.ts'
import { LENSES, type LensName } from '../findings/lens.ts'

/** The unit of dispatch: a lens over a part of the diff. */
export interface PlannedReview {
  readonly lens: LensName
  /** From 0. */
  readonly part: number
  /** Paths of the part. */
  readonly paths: readonly string[]
}

export interface Partition {
  /** At most `PLAN_REVIEWS_MAX`. */
  readonly reviews: readonly PlannedReview[]
  readonly leftOut: readonly LeftOut[]
}

/**
 * An analyzer reads every file with something to read, in one part: no file is hidden from an analyzer (C7). Model
 * lenses read parts of at most `PART_LINES_MAX` lines of diff, riskiest first; a larger file is a part of its own, and
 * the lens reads its beginning (`clippedToPart`).
 */
export function partitionDiff(files: readonly FileChange[], lenses: readonly LensName[]): Partition {
  const analyzers = lenses.filter((lens) => LENSES[lens].kind === 'analyzer')
  const models = lenses.filter((lens) => LENSES[lens].kind === 'model')
  const leftOut: LeftOut[] = []
  const without = (all: readonly FileChange[], becauseOf: (file: FileChange) => LeftOutBecause | undefined) =>
    all.filter((file) => {
      const because = becauseOf(file)
      if (because !== undefined) leftOut.push({ path: file.path, because, reason: REASONS[because] })
      return because === undefined
    })
  const readable = without(files, nothingToRead)
  const reviews: PlannedReview[] = analyzers.map((lens) => ({
    lens,
    part: 0,
    paths: readable.map((file) => file.path),
  }))
  if (models.length === 0) return { reviews, leftOut }

  const packed = pack(without(readable, nothingForModels).sort(riskiestFirst))
  const partsMax = Math.max(0, Math.floor((PLAN_REVIEWS_MAX - analyzers.length) / models.length))
  for (const lens of models) {
    packed.slice(0, partsMax).forEach((part, index) => {
      reviews.push({ lens, part: index, paths: part.map((file) => file.path) })
    })
  }
  for (const { path } of packed.slice(partsMax).flat()) {
    leftOut.push({ path, because: 'over_budget', reason: REASONS.over_budget })
  }
  return { reviews, leftOut }
}

/** The lines of a file for a model lens: at most `PART_LINES_MAX` lines of diff, cut between lines. */
export function clippedToPart(file: FileChange): { readonly file: FileChange; readonly cut: boolean } {
  if (diffLinesOf(file) <= PART_LINES_MAX) return { file, cut: false }
  const hunks: Hunk[] = []
  let left = PART_LINES_MAX
  for (const hunk of file.hunks) {
    if (left === 0) break
    const lines = hunk.lines.slice(0, left)
    left -= lines.length
    const oldLines = lines.filter((line) => line.oldLine !== undefined).length
    const newLines = lines.filter((line) => line.newLine !== undefined).length
    hunks.push({ ...hunk, lines, oldLines, newLines })
  }
  return { file: { ...file, hunks }, cut: true }
}

const REASONS: Readonly<Record<LeftOutBecause, string>> = {
  not_text: 'The change has no text: a binary file, or a change of mode only.',
  pure_rename: 'Renamed without a change.',
  generated: 'Generated and vendored files and lock files are not read by models.',
  patch_missing: 'GitHub sent no readable diff for the file.',
  over_budget: `A run has at most ${PLAN_REVIEWS_MAX} reviews of ${PART_LINES_MAX} lines of diff, riskiest files first.`,
}

/** GitHub counts no lines for a binary file, and none for a change of mode (H11). */
function nothingToRead(file: FileChange): 'not_text' | 'pure_rename' | undefined {
  if (file.noPatch === 'pure_rename') return 'pure_rename'
  return file.noPatch !== undefined && file.additions + file.deletions === 0 ? 'not_text' : undefined
}

function nothingForModels({ path, noPatch }: FileChange): 'generated' | 'patch_missing' | undefined {
  if (noPatch !== undefined) return 'patch_missing'
  return isGenerated(path) ? 'generated' : undefined
}

/** Puts each file into the first part with room for it, so that risk decides the order of the parts. */
function pack(files: readonly FileChange[]): readonly (readonly FileChange[])[] {
  const parts: { files: FileChange[]; lines: number }[] = []
  for (const file of files) {
    const lines = diffLinesOf(file)
    const part = parts.find((open) => open.lines + lines <= PART_LINES_MAX)
    if (part === undefined) parts.push({ files: [file], lines })
    else {
      part.files.push(file)
      part.lines += lines
    }
  }
  return parts.map((part) => part.files)
}

/** By the cost of a fault; then the larger change; then by path, so that the order is always the same. */
function riskiestFirst(a: FileChange, b: FileChange): number {
  return (
    riskOf(a.path) - riskOf(b.path) ||
    b.additions + b.deletions - (a.additions + a.deletions) ||
    compareTexts(a.path, b.path)
  )
}

/** 0 is the riskiest. The path tells documentation and tests first: a test of the sign-in is still a test. */
function riskOf(path: string): number {
  if (DOCUMENTATION.test(path)) return 4
  if (TESTS.test(path)) return 3
  if (SENSITIVE.test(path)) return 0
  return DATA.test(path) ? 2 : 1
}

/** A fault here is a way in or a loss of data, or runs with special rights. */
const SENSITIVE =
  /(auth|login|session|token|secret|crypt|permission|payment|billing|migrat|security|password)|\.sql$|(^|\/)(Dockerfile|\.github\/workflows\/|\.gitlab-ci\.yml$)|\.tf$/i
const TESTS = /(^|\/)(tests?|specs?|__tests__|testdata|fixtures)\/|[._-](test|spec)s?\.[^/]+$|(^|\/)test_[^/]+\.py$/i
const DOCUMENTATION = /\.(md|mdx|rst|adoc|txt)$|(^|\/)(docs?|LICENSE|CHANGELOG|AUTHORS)(\/|$)/i
const DATA = /\.(json|jsonc|ya?ml|toml|ini|cfg|conf|xml|csv|html?|css|scss|less|svg)$/i

/** By path only: a marker such as `@generated` would let a pull request hide its own code from the review. */
function isGenerated(path: string): boolean {
  return GENERATED.test(path) || LOCK_FILES.has(path.slice(path.lastIndexOf('/') + 1))
}

const GENERATED =
  /(^|\/)(node_modules|vendor|third_party|dist|__snapshots__|__generated__|generated)\/|\.(min\.(js|css)|snap|map|pb\.go|pb\.cc|pb\.h|g\.dart|designer\.cs)$|_pb2(_grpc)?\.pyi?$|[._]generated\.[^/]+$/i

const LOCK_FILES: ReadonlySet<string> = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'poetry.lock',
  'uv.lock',
  'pdm.lock',
  'Pipfile.lock',
  'composer.lock',
  'Gemfile.lock',
  'go.sum',
  'gradle.lockfile',
  'flake.lock',
  'packages.lock.json',
  'mix.lock',
  'pubspec.lock',
  'Podfile.lock',
  'Package.resolved',
  '.terraform.lock.hcl',
])
