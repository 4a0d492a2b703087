import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FINDING_BYTES_MAX, FINDINGS_PER_REVIEW_MAX } from '../../../shared/base/limits.ts'
import { REDACTED } from '../../../shared/base/redaction.ts'
import { byteLength, CUT_MARK } from '../../../shared/base/text.ts'
import { type FileChange, fileChangeOf } from '../../../shared/findings/diff.ts'
import type { ClaimedFinding, ClaimedLocation, Finding } from '../../../shared/findings/finding.ts'
import { type GroundingContext, groundClaims } from '../../../shared/findings/grounding.ts'

const HEAD = 'a'.repeat(40)

const PATCH = [
  '@@ -1,4 +1,5 @@',
  ' import { open } from "./door.ts"',
  '-const tries = 3',
  '+const tries = 4',
  '+  return   open( tries )',
  ' ',
  ' export const last = 1',
  '@@ -40,2 +41,3 @@',
  ' forty',
  '+  return   open( tries )',
  ' forty-one',
].join('\n')

const TEXT = [
  'import { open } from "./door.ts"',
  'const tries = 4',
  '  return   open( tries )',
  '',
  'export const last = 1',
  ...Array.from({ length: 35 }, (_, index) => `line ${index + 6}`),
  'forty',
  '  return   open( tries )',
  'forty-one',
  '',
].join('\n')

function fileOf(
  patch: string | undefined,
  path = 'src/a.ts',
  more: { status?: string; previous?: string } = {},
): FileChange {
  return fileChangeOf({
    filename: path,
    previous_filename: more.previous,
    status: more.status ?? 'modified',
    additions: 3,
    deletions: 1,
    sha: 'b10b',
    patch,
  })
}

const context = (more: Partial<GroundingContext> = {}): GroundingContext => ({
  lens: 'correctness',
  files: [fileOf(PATCH)],
  texts: (path) => (path === 'src/a.ts' ? TEXT : undefined),
  head: HEAD,
  openFindings: [],
  ...more,
})

const claim = (location: ClaimedLocation, more: Partial<ClaimedFinding> = {}): ClaimedFinding => ({
  rule: 'wrong-result',
  severity: 'high',
  title: 'Off by one',
  why: 'The fourth try never happens.',
  clears: 'Count from zero.',
  location,
  ...more,
})

const quoting = (quote: string, more: { nearLine?: number; side?: 'LEFT' | 'RIGHT'; path?: string } = {}) =>
  claim({ kind: 'quote', path: 'src/a.ts', quote, ...more })

const lines = (startLine: number, line: number, side: 'LEFT' | 'RIGHT' = 'RIGHT') =>
  claim({ kind: 'lines', path: 'src/a.ts', side, startLine, line })

function only(claims: ClaimedFinding, more: Partial<GroundingContext> = {}): Finding {
  const { findings, rejected } = groundClaims([claims], context(more))
  expect(rejected).toEqual([])
  const [finding] = findings
  if (finding === undefined) throw new Error('no finding')
  return finding
}

describe('a quote', () => {
  test('A8: code computes the line of a quote', () => {
    expect(only(quoting('const tries = 4')).location).toEqual({
      kind: 'lines',
      path: 'src/a.ts',
      side: 'RIGHT',
      startLine: 2,
      line: 2,
      inDiff: true,
    })
  })

  test('A8: a quote with several matches means the line nearest to the named line', () => {
    expect(only(quoting('return open(')).location).toMatchObject({ line: 3 })
    expect(only(quoting('return   open(', { nearLine: 39 })).location).toMatchObject({ line: 42 })
  })

  test('A8: without a named line, a changed line goes before other lines of the diff', () => {
    const files = [fileOf('@@ -1,2 +1,3 @@\n close()\n+close()\n end')]
    expect(only(quoting('close()'), { files, texts: () => undefined }).location).toMatchObject({ line: 2 })
  })

  test('A8: exact text goes before text with other white space', () => {
    const files = [fileOf('@@ -0,0 +1,2 @@\n+if ( a )  run()\n+if ( a ) run()')]
    expect(only(quoting('if ( a ) run()', { nearLine: 1 }), { files, texts: () => undefined }).location).toMatchObject({
      line: 2,
    })
  })

  test('a quote of several lines is a range, also with other white space', () => {
    expect(only(quoting('\nconst tries = 4\n return open( tries )\n')).location).toMatchObject({
      startLine: 2,
      line: 3,
    })
  })

  test('a quote of a removed line is on the left', () => {
    expect(only(quoting('const tries = 3')).location).toMatchObject({ side: 'LEFT', line: 2, inDiff: true })
  })

  test('A1: a quote of an unchanged line outside the hunks stands, but not in the diff', () => {
    expect(only(quoting('line 20')).location).toMatchObject({ line: 20, inDiff: false })
  })

  test('a quote is matched against CRLF lines without their carriage return', () => {
    const files = [fileOf('@@ -1 +1,2 @@\n one\r\n+two\r')]
    expect(only(quoting('one\ntwo'), { files, texts: () => 'one\r\ntwo\r\n' }).location).toMatchObject({
      startLine: 1,
      line: 2,
    })
  })

  test('a quote of a line redacted for a model is found', () => {
    const secret = ['gh', 'p_', 'q7Rt2Wz9Lk4Xv8Bn3Mc6Pd1Fg5Hj0Ys2Ua7E'].join('')
    const files = [fileOf(`@@ -0,0 +1 @@\n+const token = "${secret}"`)]
    const finding = only(quoting(`const token = "ghp_${REDACTED}"`), { files, texts: () => undefined })
    expect(finding.location).toMatchObject({ line: 1 })
    expect(finding.quote).not.toContain(secret)
  })

  test.each([
    ['of unknown code', 'const tries = 5', 'quote_not_found'],
    ['of nothing', ' \n\t', 'quote_empty'],
  ])('A8: a quote %s is rejected, never moved to line 1', (_, quote, reason) => {
    const { findings, rejected } = groundClaims([quoting(quote)], context())
    expect(findings).toEqual([])
    expect(rejected).toMatchObject([{ reason, path: 'src/a.ts', title: 'Off by one' }])
  })

  test('H5: a quote of a file outside of the review is rejected', () => {
    const { rejected } = groundClaims([quoting('const tries = 4', { path: 'src/b.ts' })], context())
    expect(rejected).toMatchObject([{ reason: 'path_not_in_diff', path: 'src/b.ts' }])
  })
})

describe('lines', () => {
  test('A2: lines over two hunks are clipped to one', () => {
    expect(only(lines(3, 42)).location).toMatchObject({ startLine: 3, line: 5, inDiff: true })
  })

  test('A3: equal or reversed ends are put in order', () => {
    expect(only(lines(3, 2)).location).toMatchObject({ startLine: 2, line: 3 })
  })

  test('A7: lines of a removed file are on the left', () => {
    const files = [fileOf('@@ -1,2 +0,0 @@\n-a\n-b', 'src/a.ts', { status: 'removed' })]
    expect(only(lines(1, 2, 'LEFT'), { files, texts: () => undefined }).location).toMatchObject({
      side: 'LEFT',
      inDiff: true,
    })
  })

  test.each([
    [0, 0],
    [44, 50],
    [1.5, 2],
    [Number.NaN, 2],
  ])('lines outside of the file are rejected: %d to %d', (startLine, line) => {
    expect(groundClaims([lines(startLine, line)], context()).rejected).toMatchObject([{ reason: 'line_not_in_file' }])
  })

  test('lines beyond the end of the file end there', () => {
    expect(only(lines(20, 1_000_000_000)).location).toMatchObject({ line: 43 })
  })

  test('H12: lines under the path before a rename are lines of the renamed file', () => {
    const files = [fileOf(PATCH, 'src/new.ts', { status: 'renamed', previous: 'src/a.ts' })]
    expect(only(lines(2, 2), { files }).location).toMatchObject({ path: 'src/new.ts' })
  })
})

describe('identity', () => {
  const moved = context({
    files: [fileOf('@@ -10,2 +10,3 @@\n x\n+const   tries = 4 \n y')],
    texts: () => undefined,
    head: 'b'.repeat(40),
  })

  test('D9: a finding keeps its identity when its line moves and its white space changes', () => {
    const before = only(quoting('const tries = 4'))
    const [after] = groundClaims([quoting('const tries = 4')], moved).findings
    expect(after?.fingerprint).toBe(before.fingerprint)
    expect(after?.location).not.toEqual(before.location)
  })

  test('FI1: an open finding keeps its first head', () => {
    const before = only(quoting('const tries = 4'))
    const [after] = groundClaims([quoting('const tries = 4')], { ...moved, openFindings: [before] }).findings
    expect(after?.originHead).toBe(HEAD)
  })

  test('lens, rule, path and quote tell findings apart; severity and wording do not', () => {
    const base = only(quoting('const tries = 4')).fingerprint
    expect(only({ ...quoting('const tries = 4'), severity: 'low', title: 'x', why: 'y' }).fingerprint).toBe(base)
    expect(only({ ...quoting('const tries = 4'), rule: 'crash' }).fingerprint).not.toBe(base)
    expect(only(quoting('const tries = 4'), { lens: 'secrets' }).fingerprint).not.toBe(base)
    expect(only(quoting('forty-one')).fingerprint).not.toBe(base)
  })

  test('the same lines twice in one head are two findings, in any order of the claims', () => {
    const both = [lines(3, 3), lines(42, 42)]
    const forward = groundClaims(both, context()).findings.map((finding) => [finding.fingerprint, finding.location])
    const backward = groundClaims(both.toReversed(), context()).findings.map((finding) => [
      finding.fingerprint,
      finding.location,
    ])
    expect(new Set(forward.map(([fingerprint]) => fingerprint)).size).toBe(2)
    expect(backward).toEqual(forward)
  })

  test('D9: the end of a hunk is no part of the identity', () => {
    const whole = fileOf(['@@ -1,3 +1,3 @@', '+a', ' b', ' c', '-d'].join('\n'))
    const part = fileOf(['@@ -1,2 +1,2 @@', '+a', ' b', '-d'].join('\n'))
    const texts = () => 'a\nb\nc\n'
    expect(only(lines(1, 3), { files: [part], texts }).fingerprint).toBe(
      only(lines(1, 3), { files: [whole], texts }).fingerprint,
    )
  })
})

describe('texts', () => {
  const secret = ['AK', 'IA', 'Q7RT2WZ9LK4XV8BN'].join('')

  test('RC7: a secret in any text, or in the quoted line, is stored redacted only', () => {
    const files = [fileOf(`@@ -0,0 +1 @@\n+id = ${secret}`)]
    const location: ClaimedLocation = { kind: 'lines', path: 'src/a.ts', side: 'RIGHT', startLine: 1, line: 1 }
    const texts = { title: `t ${secret}`, why: `w ${secret}`, clears: `c ${secret}` }
    expect(JSON.stringify(only(claim(location, texts), { files, texts: () => undefined }))).not.toContain(
      secret.slice(4),
    )
  })

  test('RC7: concealed values are gone from texts, quote and rejections', () => {
    const value = 'hunter2-but-longer'
    const files = [fileOf(`@@ -0,0 +1 @@\n+pass ${value}`)]
    const location: ClaimedLocation = { kind: 'lines', path: 'src/a.ts', side: 'RIGHT', startLine: 1, line: 1 }
    const more = { title: value, why: value, conceal: [value] }
    expect(JSON.stringify(only(claim(location, more), { files, texts: () => undefined }))).not.toContain('hunter2')
    const rejected = groundClaims(
      [claim({ ...location, startLine: 9, line: 9 }, more)],
      context({ files, texts: () => undefined }),
    )
    expect(JSON.stringify(rejected)).not.toContain('hunter2')
  })

  test('RC7: half a secret at a cut is not left behind', () => {
    const why = `${'x'.repeat(FINDING_BYTES_MAX - 600)} ${`${secret} `.repeat(60)}`
    expect(only(claim({ kind: 'pull_request' }, { why })).why).not.toContain(secret.slice(4, 10))
  })

  test('RC8: texts over the limit are cut on a character with a visible mark, and the cut is recorded', () => {
    const finding = only(claim({ kind: 'pull_request' }, { why: '😊'.repeat(FINDING_BYTES_MAX) }))
    expect(finding.cut).toBe(true)
    expect(finding.why.endsWith(CUT_MARK)).toBe(true)
    expect(finding.why.isWellFormed()).toBe(true)
    expect(only(claim({ kind: 'pull_request' })).cut).toBe(false)
  })

  test('RC8, RC9: a finding is well-formed and within its bytes, for any claim of a lens', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }).map((piece) => piece.repeat(3_000)),
    )
    fc.assert(
      fc.property(text, text, text, (title, why, clears) => {
        const finding = only(claim({ kind: 'pull_request' }, { title, why, clears }))
        const whole = finding.title + finding.why + finding.clears + finding.quote
        expect(byteLength(whole)).toBeLessThanOrEqual(FINDING_BYTES_MAX)
        expect(whole.isWellFormed()).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  test('AD4: a marker of Muster in a text is neutralised', () => {
    const finding = only(claim({ kind: 'pull_request' }, { why: '<!-- muster:v1 finding abc -->' }))
    expect(finding.why).not.toContain('<!-- muster:')
  })
})

test('I6: findings over the limit are rejected by name, the least severe first, and none is lost', () => {
  const claims = Array.from({ length: FINDINGS_PER_REVIEW_MAX + 3 }, (_, index) =>
    claim({ kind: 'file', path: 'src/a.ts' }, { severity: index < 3 ? 'low' : 'high', title: `finding ${index}` }),
  )
  const { findings, rejected } = groundClaims([...claims, quoting('nowhere at all')], context())
  expect(findings).toHaveLength(FINDINGS_PER_REVIEW_MAX)
  expect(rejected.map(({ title, reason }) => [title, reason])).toEqual([
    ['Off by one', 'quote_not_found'],
    ['finding 0', 'over_limit'],
    ['finding 1', 'over_limit'],
    ['finding 2', 'over_limit'],
  ])
})

test('findings come worst first, then by path and line', () => {
  const files = [fileOf(PATCH), fileOf(PATCH, 'src/b.ts')]
  const at = (path: string, line: number, severity: ClaimedFinding['severity']) =>
    claim({ kind: 'lines', path, side: 'RIGHT', startLine: line, line }, { severity })
  const claims = [
    at('src/b.ts', 2, 'low'),
    at('src/b.ts', 2, 'high'),
    at('src/a.ts', 42, 'high'),
    at('src/a.ts', 3, 'high'),
  ]
  const { findings } = groundClaims(claims, context({ files, texts: () => undefined }))
  expect(
    findings.map(({ severity, location }) => [severity, location.kind === 'lines' && [location.path, location.line]]),
  ).toEqual([
    ['high', ['src/a.ts', 3]],
    ['high', ['src/a.ts', 42]],
    ['high', ['src/b.ts', 2]],
    ['low', ['src/b.ts', 2]],
  ])
})

test('a review of many quotes in a large file takes a bounded time', () => {
  const body = Array.from({ length: 10_000 }, (_, index) => `+  const value${index} = compute(${index})`)
  const files = [fileOf(`@@ -0,0 +1,${body.length} @@\n${body.join('\n')}`)]
  const claims = Array.from({ length: 200 }, (_, index) =>
    quoting(`const value${index * 50}  = compute(${index * 50})`),
  )
  const started = performance.now()
  expect(groundClaims(claims, context({ files, texts: () => undefined })).findings).toHaveLength(200)
  expect(performance.now() - started).toBeLessThan(5_000)
})
