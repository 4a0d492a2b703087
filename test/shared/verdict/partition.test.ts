import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PART_LINES_MAX, PLAN_REVIEWS_MAX } from '../../../shared/base/limits.ts'
import { diffLinesOf, type FileChange, fileChangeOf } from '../../../shared/findings/diff.ts'
import { LENS_NAMES } from '../../../shared/findings/lens.ts'
import { clippedToPart, partitionDiff } from '../../../shared/verdict/partition.ts'

function file(
  path: string,
  lines: number,
  more: { status?: string; noPatch?: true; additions?: number } = {},
): FileChange {
  const patch = `@@ -0,0 +1,${lines} @@\n${Array.from({ length: lines }, () => '+x').join('\n')}`
  return fileChangeOf({
    filename: path,
    status: more.status ?? 'modified',
    additions: more.additions ?? lines,
    deletions: 0,
    sha: 'b10b',
    patch: more.noPatch ? undefined : patch,
  })
}

const pathsOf = (lens: string, files: readonly FileChange[]) =>
  partitionDiff(files, LENS_NAMES)
    .reviews.filter((review) => review.lens === lens)
    .map((review) => review.paths)

describe('partitionDiff', () => {
  test('C7: an analyzer reads every file, also generated files, in one part', () => {
    const files = [file('dist/a.js', 5), file('package-lock.json', 4_000), file('src/b.ts', 3)]
    expect(pathsOf('secrets', files)).toEqual([['dist/a.js', 'package-lock.json', 'src/b.ts']])
  })

  test('H5: code goes before documentation, whatever its name, and a larger change before a smaller change', () => {
    const files = [file('a/README.md', 9), file('a.test.ts', 9), file('m.ts', 2), file('n.ts', 7), file('z/auth.ts', 1)]
    expect(pathsOf('correctness', files)).toEqual([['z/auth.ts', 'n.ts', 'm.ts', 'a.test.ts', 'a/README.md']])
  })

  test('H5: generated files, vendored files and lock files are left out by default, each by name', () => {
    const files = [file('src/a.ts', 2), file('web/app.min.js', 1), file('go.sum', 9), file('vendor/x/y.go', 9)]
    expect(pathsOf('correctness', files)).toEqual([['src/a.ts']])
    expect(partitionDiff(files, LENS_NAMES).leftOut.map(({ path, because }) => [path, because])).toEqual([
      ['web/app.min.js', 'generated'],
      ['go.sum', 'generated'],
      ['vendor/x/y.go', 'generated'],
    ])
  })

  test('H11, H12: binaries and pure renames are named as having nothing to read', () => {
    const files = [
      file('logo.png', 1, { noPatch: true, additions: 0 }),
      file('b.ts', 1, { noPatch: true, additions: 0, status: 'renamed' }),
    ]
    const { reviews, leftOut } = partitionDiff(files, LENS_NAMES)
    expect(leftOut.map(({ path, because }) => [path, because])).toEqual([
      ['logo.png', 'not_text'],
      ['b.ts', 'pure_rename'],
    ])
    expect(reviews.every((review) => review.paths.length === 0)).toBe(true)
  })

  test('H1: a file whose diff GitHub left out goes to analyzers, and is named as not read by models', () => {
    const files = [file('big.sql', 30_000, { noPatch: true })]
    expect(pathsOf('secrets', files)).toEqual([['big.sql']])
    expect(partitionDiff(files, LENS_NAMES).leftOut).toMatchObject([{ path: 'big.sql', because: 'patch_missing' }])
  })

  test('a file larger than a part is a part of its own', () => {
    const files = [file('huge.ts', PART_LINES_MAX + 1), file('a.ts', 10), file('b.ts', PART_LINES_MAX - 10)]
    expect(pathsOf('correctness', files)).toEqual([['huge.ts'], ['b.ts', 'a.ts']])
  })

  test('R5: beyond the reviews of one run the least risky files are left out, each by name', () => {
    const files = Array.from({ length: 60 }, (_, index) =>
      file(`${index < 5 ? 'docs' : 'src'}/${index}.x`, PART_LINES_MAX),
    )
    const { reviews, leftOut } = partitionDiff(files, LENS_NAMES)
    expect(reviews).toHaveLength(PLAN_REVIEWS_MAX)
    expect(leftOut).toHaveLength(60 - (PLAN_REVIEWS_MAX - 3))
    expect(leftOut.filter(({ path }) => path.startsWith('docs/'))).toHaveLength(5)
    expect(leftOut.every(({ because }) => because === 'over_budget')).toBe(true)
  })

  test('without a model lens nothing counts against a budget', () => {
    const files = [file('dist/a.js', 5), file('src/b.ts', 3_000)]
    expect(partitionDiff(files, ['secrets', 'workflows'])).toMatchObject({ reviews: [{}, {}], leftOut: [] })
  })

  test('every file is in exactly one part or left out, no part is too large, and the order of the list does not matter', () => {
    const name = fc.constantFrom('a.ts', 'b.md', 'go.sum', 'x_test.go', 'c.json', 'auth.py')
    const entry = fc.record({
      name,
      folder: fc.integer({ min: 0, max: 99 }),
      lines: fc.integer({ min: 1, max: 2_000 }),
    })
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: (e) => `${e.folder}/${e.name}`, maxLength: 40 }), (entries) => {
        const files = entries.map((e) => file(`${e.folder}/${e.name}`, e.lines))
        const { reviews, leftOut } = partitionDiff(files, ['correctness'])
        const read = reviews.flatMap((review) => review.paths)
        expect([...read, ...leftOut.map(({ path }) => path)].sort()).toEqual(files.map(({ path }) => path).sort())
        for (const { paths } of reviews) {
          const sum = files.filter((f) => paths.includes(f.path)).reduce((lines, f) => lines + diffLinesOf(f), 0)
          if (paths.length > 1) expect(sum).toBeLessThanOrEqual(PART_LINES_MAX)
        }
        expect(partitionDiff(files.toReversed(), ['correctness']).reviews).toEqual(reviews)
      }),
      { numRuns: 30 },
    )
  })
})

describe('clippedToPart', () => {
  test('H4: of a file larger than a part the beginning is read, marked as cut', () => {
    const { file: clipped, cut } = clippedToPart(file('huge.ts', PART_LINES_MAX + 1))
    expect(cut).toBe(true)
    expect(diffLinesOf(clipped)).toBe(PART_LINES_MAX)
    expect(clipped.hunks[0]).toMatchObject({ oldLines: 0, newLines: PART_LINES_MAX })
  })

  test('a file within a part’s size stays unchanged', () => {
    const whole = file('a.ts', PART_LINES_MAX)
    expect(clippedToPart(whole)).toEqual({ file: whole, cut: false })
  })
})
