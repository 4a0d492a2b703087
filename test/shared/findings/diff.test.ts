import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  anchorInDiff,
  diffLinesOf,
  fileChangeOf,
  type Hunk,
  type ListedFile,
  parsePatch,
} from '../../../shared/findings/diff.ts'

const listed = (patch: string | undefined, more: Partial<ListedFile> = {}): ListedFile => ({
  filename: 'src/a.ts',
  status: 'modified',
  additions: 1,
  deletions: 1,
  sha: 'b10b',
  ...(patch === undefined ? {} : { patch }),
  ...more,
})

function hunksOf(patch: string): readonly Hunk[] {
  const parsed = parsePatch(patch)
  if (!parsed.readable) throw new Error(`unreadable at line ${parsed.atLine}`)
  return parsed.hunks
}

const TWO_HUNKS = [
  '@@ -1,3 +1,4 @@',
  ' one',
  '-two',
  '+TWO',
  '+two and a half',
  ' three',
  '@@ -40,2 +41,3 @@ function deep() {',
  ' forty',
  '+forty and a half',
  ' forty-one',
].join('\n')

describe('parsePatch', () => {
  test('parsePatch numbers the lines of both sides', () => {
    const [first, second] = hunksOf(TWO_HUNKS)
    expect(first?.lines).toEqual([
      { kind: 'context', text: 'one', oldLine: 1, newLine: 1 },
      { kind: 'removed', text: 'two', oldLine: 2 },
      { kind: 'added', text: 'TWO', newLine: 2 },
      { kind: 'added', text: 'two and a half', newLine: 3 },
      { kind: 'context', text: 'three', oldLine: 3, newLine: 4 },
    ])
    expect(second?.lines[1]).toEqual({ kind: 'added', text: 'forty and a half', newLine: 42 })
  })

  test('A14: an omitted count means one line', () => {
    expect(hunksOf('@@ -5 +5 @@\n-old\n+new')).toEqual([
      {
        oldStart: 5,
        oldLines: 1,
        newStart: 5,
        newLines: 1,
        lines: [
          { kind: 'removed', text: 'old', oldLine: 5 },
          { kind: 'added', text: 'new', newLine: 5 },
        ],
      },
    ])
  })

  test('H15: the note about a missing line feed belongs to the line above, on each side', () => {
    const patch = '@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file'
    expect(hunksOf(patch)[0]?.lines).toEqual([
      { kind: 'removed', text: 'old', oldLine: 1, noNewline: true },
      { kind: 'added', text: 'new', newLine: 1, noNewline: true },
    ])
  })

  test('lines that look like headers stay lines of their hunk', () => {
    const patch = '@@ -1,3 +1,3 @@\n--- a/file\n+++ b/file\n @@ -9,9 +9,9 @@\n \\ No newline at end of file'
    expect(hunksOf(patch)[0]?.lines.map(({ kind, text }) => [kind, text])).toEqual([
      ['removed', '-- a/file'],
      ['added', '++ b/file'],
      ['context', '@@ -9,9 +9,9 @@'],
      ['context', '\\ No newline at end of file'],
    ])
  })

  test('a carriage return is part of the text, also as the whole text', () => {
    const texts = hunksOf('@@ -1,2 +1,3 @@\n a\r\n+b\r\n\r').flatMap((hunk) => hunk.lines.map((line) => line.text))
    expect(texts).toEqual(['a\r', 'b\r', '\r'])
  })

  test('an empty context line whose blank was stripped still counts, also as the last line', () => {
    const texts = hunksOf('@@ -1,3 +1,4 @@\n a\n\n+b\n').flatMap((hunk) => hunk.lines.map((line) => line.text))
    expect(texts).toEqual(['a', '', 'b', ''])
  })

  test('a side without lines is read: added, removed, and inserted files and lines', () => {
    expect(hunksOf('@@ -0,0 +1,2 @@\n+a\n+b')[0]?.lines).toHaveLength(2)
    expect(hunksOf('@@ -1,2 +0,0 @@\n-a\n-b')[0]?.lines).toHaveLength(2)
    expect(hunksOf('@@ -1 +1 @@\n-a\n+b\n@@ -3,0 +4 @@\n+c')).toHaveLength(2)
  })

  test.each([
    ['text before the first hunk', 'diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b', 1],
    ['a hunk that ends before its counts', '@@ -1,2 +1,2 @@\n a', 3],
    ['a hunk that goes on after its counts', '@@ -1 +1 @@\n-a\n+b\n+c', 4],
    ['a combined diff', '@@@ -1 -1 +1 @@@\n  a', 1],
    ['hunks in the wrong order', '@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b', 4],
    ['overlapping hunks', '@@ -1,2 +1,2 @@\n a\n b\n@@ -2 +2 @@\n-b\n+c', 4],
    ['a note without a line', '@@ -1 +1 @@\n\\ No newline at end of file', 2],
  ])('%s is unreadable, with its line', (_, patch, atLine) => {
    expect(parsePatch(patch)).toEqual({ readable: false, atLine })
  })

  test('parsePatch answers for any input, and its line numbers agree with the counts', () => {
    const line = fc.oneof(
      fc.constantFrom('@@ -1 +1 @@', '@@ -1,2 +1,2 @@', '+a', '-a', ' a', '', '\\ No newline at end of file', '\r'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const parsed = parsePatch(lines.join('\n'))
        if (!parsed.readable) return
        for (const hunk of parsed.hunks) {
          expect(hunk.lines.filter((entry) => entry.kind !== 'added')).toHaveLength(hunk.oldLines)
          expect(hunk.lines.filter((entry) => entry.kind !== 'removed')).toHaveLength(hunk.newLines)
        }
      }),
    )
  })

  test('a rendered patch is read back unchanged', () => {
    const entry = fc.record({
      kind: fc.constantFrom('context' as const, 'added' as const, 'removed' as const),
      text: fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', '')),
    })
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 9999 }),
        (entries, at) => {
          const signs = { context: ' ', added: '+', removed: '-' }
          const oldLines = entries.filter(({ kind }) => kind !== 'added').length
          const newLines = entries.filter(({ kind }) => kind !== 'removed').length
          const body = entries.map(({ kind, text }) => signs[kind] + text).join('\n')
          const [hunk] = hunksOf(`@@ -${at},${oldLines} +${at},${newLines} @@\n${body}`)
          expect(hunk?.lines.map(({ kind, text }) => ({ kind, text }))).toEqual(entries)
        },
      ),
    )
  })
})

describe('fileChangeOf', () => {
  test('H11: an absent patch is normal, with a reason', () => {
    const file = fileChangeOf(listed(undefined, { filename: 'logo.png', additions: 0, deletions: 0 }))
    expect(file).toMatchObject({ path: 'logo.png', hunks: [], noPatch: 'no_patch' })
  })

  test('H12: a rename keeps both paths, and a pure rename has nothing to read', () => {
    const edited = fileChangeOf(listed('@@ -1 +1 @@\n-a\n+b', { status: 'renamed', previous_filename: 'src/old.ts' }))
    expect(edited).toMatchObject({ path: 'src/a.ts', previousPath: 'src/old.ts', status: 'renamed' })
    expect(edited.noPatch).toBeUndefined()
    const pure = listed(undefined, { status: 'renamed', previous_filename: 'b', additions: 0, deletions: 0 })
    expect(fileChangeOf(pure).noPatch).toBe('pure_rename')
  })

  test('H13: paths are kept to the byte', () => {
    const filename = '한국어/é" \t.md'
    expect(fileChangeOf(listed('@@ -1 +1 @@\n-a\n+b', { filename })).path).toBe(filename)
  })

  test('a patch without sense is unreadable, never empty', () => {
    expect(fileChangeOf(listed('nonsense'))).toMatchObject({ hunks: [], noPatch: 'unreadable_patch' })
  })

  test('diffLinesOf counts the lines of diff, context too', () => {
    expect(diffLinesOf(fileChangeOf(listed(TWO_HUNKS)))).toBe(8)
  })
})

describe('anchorInDiff', () => {
  const file = fileChangeOf(listed(TWO_HUNKS))

  test('A1: an unchanged line far from the hunk has no anchor', () => {
    expect(anchorInDiff(file, 'RIGHT', 20, 20)).toBeUndefined()
  })

  test('A2: a range over two hunks is clipped to the hunk with most of the range', () => {
    expect(anchorInDiff(file, 'RIGHT', 2, 42)).toEqual({ side: 'RIGHT', startLine: 2, line: 4 })
    expect(anchorInDiff(file, 'RIGHT', 4, 43)).toEqual({ side: 'RIGHT', startLine: 41, line: 43 })
  })

  test('A3: a range of one line starts at its end', () => {
    expect(anchorInDiff(file, 'RIGHT', 2, 2)).toEqual({ side: 'RIGHT', startLine: 2, line: 2 })
  })

  test('A7: a removed file has anchors on the left only', () => {
    const removed = fileChangeOf(listed('@@ -1,2 +0,0 @@\n-a\n-b', { status: 'removed' }))
    expect(anchorInDiff(removed, 'RIGHT', 1, 1)).toBeUndefined()
    expect(anchorInDiff(removed, 'LEFT', 1, 2)).toEqual({ side: 'LEFT', startLine: 1, line: 2 })
  })

  test('every anchor lies in one hunk', () => {
    const range = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 60 }))
    fc.assert(
      fc.property(range, fc.constantFrom('LEFT' as const, 'RIGHT' as const), ([start, length], side) => {
        const anchor = anchorInDiff(file, side, start, start + length)
        if (anchor === undefined) return
        const numbers = file.hunks.map((hunk) =>
          hunk.lines.map((line) => (side === 'LEFT' ? line.oldLine : line.newLine)),
        )
        const inOne = numbers.some((hunk) => hunk.includes(anchor.startLine) && hunk.includes(anchor.line))
        expect(inOne && anchor.startLine <= anchor.line).toBe(true)
      }),
    )
  })
})
