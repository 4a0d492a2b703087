/** Open findings that a lens doesn't repeat: the silence of a model is no change of the code. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FileChange, fileChangeOf } from '../../../shared/findings/diff.ts'
import type { ClaimedFinding, ClaimedLocation, Finding, RejectedFinding } from '../../../shared/findings/finding.ts'
import { groundClaims } from '../../../shared/findings/grounding.ts'
import type { LensName } from '../../../shared/findings/lens.ts'
import { type ReconciliationFacts, reconcileFindings } from '../../../shared/verdict/reconciliation.ts'
import { sha } from '../samples.ts'

const PATH = 'src/a.ts'
const HUNK = '@@ -1,4 +1,5 @@\n import db\n-check(user)\n+const sql = join(user)\n+db.run(sql)\n close()\n end()'

function fileOf(patch: string, more: Partial<Parameters<typeof fileChangeOf>[0]> = {}): FileChange {
  return fileChangeOf({
    filename: PATH,
    status: 'modified',
    additions: 1,
    deletions: 1,
    sha: sha(patch),
    patch,
    ...more,
  })
}

const before = fileOf(HUNK)

/** The finding at the first head. */
function findingOf(
  location: ClaimedLocation,
  more: Partial<ClaimedFinding> = {},
  file = before,
  lens: LensName = 'correctness',
) {
  const claim = {
    rule: 'security',
    severity: 'critical',
    title: 'A',
    why: 'w',
    clears: 'c',
    fenced: true,
    location,
  } as const
  const [finding] = groundClaims([{ ...claim, ...more }], {
    lens,
    files: [file],
    texts: () => undefined,
    head: sha('first'),
    openFindings: [],
  }).findings
  if (finding === undefined) throw new Error('The claim was rejected.')
  return finding
}

const quoting = (quote: string): ClaimedLocation => ({ kind: 'quote', path: PATH, quote })
const fenced = findingOf(quoting('db.run(sql)'))
const unfenced = findingOf(quoting('db.run(sql)'), { rule: 'race', severity: 'medium', fenced: false })

/** The disposition of an open finding whose lens has read the file in full and not repeated the finding. */
function answer(finding: Finding, file: FileChange, changes: Partial<ReconciliationFacts> = {}) {
  const coverage = [{ path: file.path, state: 'full' }] as const
  const { dispositions, standing } = reconcileFindings({
    open: [finding],
    announced: [],
    sameHead: [],
    found: [],
    rejected: [],
    lenses: [{ lens: finding.lens as LensName, state: 'read', findings: 0, rejected: 0, coverage }],
    files: [file],
    filesCut: false,
    ...changes,
  })
  const [first] = dispositions
  return {
    verb: first?.verb,
    location: first?.finding.location,
    isOpen: standing.some((one) => one === first?.finding),
  }
}

function rejection({ lens, rule }: Finding, reason: RejectedFinding['reason']): RejectedFinding {
  return { lens, rule, title: 'A', path: PATH, reason }
}

describe('a fenced finding after the silence of its model', () => {
  test('a fenced finding stands while its code does, at the code’s present lines', () => {
    expect(answer(fenced, before)).toEqual({ verb: 'still_present', location: fenced.location, isOpen: true })
    const moved = fileOf(
      '@@ -0,0 +1 @@\n+// new\n@@ -1,2 +2,4 @@\n import db\n+const sql = quoted(user)\n+db.run(sql)\n close()',
    )
    expect(answer(fenced, moved)).toMatchObject({
      verb: 'still_present',
      location: { startLine: 4, line: 4, inDiff: true },
    })
  })

  test.each([
    ['gone', '@@ -1,2 +1,2 @@\n import db\n+ready()\n-close()'],
    ['another one', '@@ -1,2 +1,3 @@\n import db\n+db.run(sql, [user])\n close()'],
    ['behind a guard', '@@ -1,2 +1,3 @@\n import db\n+  db.run(sql)\n close()'],
    ['part of a longer line', '@@ -1,2 +1,3 @@\n import db\n+if (ok) db.run(sql)\n close()'],
    ['only what the change removes', '@@ -1,3 +1,2 @@\n import db\n-db.run(sql)\n close()'],
  ])('a fenced finding is fixed where its code is %s', (_how, patch) => {
    expect(answer(fenced, fileOf(patch))).toMatchObject({ verb: 'fixed', isOpen: false })
  })

  test('a fenced finding stands with other line ends', () => {
    expect(answer(fenced, fileOf(HUNK.replaceAll('\n', '\r\n').replace('@@\r', '@@'))).verb).toBe('still_present')
  })

  test('a fenced finding stands without a line where its code is there twice', () => {
    const twice = fileOf('@@ -1,2 +1,4 @@\n import db\n+db.run(sql)\n+db.run(sql)\n close()')
    expect(answer(fenced, twice)).toEqual({ verb: 'not_looked_at', location: fenced.location, isOpen: true })
  })

  test('a fenced finding on several lines, one with a secret, is recognised by its redacted quote', () => {
    const key = `AKIA${'Q3EGRIV5AOTZ7LBN'}`
    const file = fileOf(`@@ -1 +1,4 @@\n import db\n+open({\n+  key: '${key}',\n+})`)
    const finding = findingOf(quoting(`open({\n  key: '${key}',\n})`), {}, file)
    expect(finding.quote).not.toContain(key)
    expect(answer(finding, file)).toMatchObject({ verb: 'still_present', location: { startLine: 2, line: 4 } })
    expect(answer(finding, fileOf('@@ -1 +1,4 @@\n import db\n+open({\n+  key: secret(),\n+})')).verb).toBe('fixed')
  })

  test('a fenced finding about removed code stands until the code is back', () => {
    const removed = findingOf({ ...quoting('check(user)'), side: 'LEFT' } as ClaimedLocation)
    expect(answer(removed, before)).toMatchObject({ verb: 'still_present', location: { side: 'LEFT', line: 2 } })
    const restored = fileOf('@@ -1,3 +1,4 @@\n import db\n check(user)\n+log()\n close()')
    expect(answer(removed, restored).verb).toBe('fixed')
  })

  test('a fenced finding outside of the diff stands until the diff removes its code', () => {
    const outside: Finding = { ...fenced, location: { ...fenced.location, inDiff: false } as Finding['location'] }
    const other = fileOf('@@ -90 +90,2 @@\n far()\n+away()')
    expect(answer(outside, other)).toMatchObject({ verb: 'not_looked_at', isOpen: true })
    expect(answer(outside, fileOf('@@ -3,2 +3,2 @@\n import db\n-db.run(sql)\n+db.run(safe)')).verb).toBe('fixed')
    const removed = fileOf('@@ -1 +0,0 @@\n-another()', { status: 'removed' })
    expect(answer(outside, removed).verb).toBe('no_longer_applicable')
  })

  test('a fenced finding in a renamed file stands under the new name, unless the lens found it there anew', () => {
    const renamed = fileOf(HUNK, { filename: 'src/b.ts', previous_filename: PATH, status: 'renamed' })
    expect(answer(fenced, renamed)).toMatchObject({ verb: 'still_present', location: { path: 'src/b.ts' } })
    const anew = findingOf({ ...quoting('db.run(sql)'), path: 'src/b.ts' } as ClaimedLocation, {}, renamed)
    expect(answer(fenced, renamed, { found: [anew] }).verb).toBe('no_longer_applicable')
    expect(answer(fenced, renamed, { found: [{ ...anew, severity: 'low' }] }).verb).toBe('still_present')
    expect(answer(unfenced, renamed).verb).toBe('no_longer_applicable')
  })

  test('FI3: of two findings on a line, a repeated finding does not answer for the other', () => {
    const other = { ...fenced, fingerprint: 'other' }
    const found = [{ ...other, originHead: sha('second') }]
    expect(answer(fenced, before, { open: [fenced, other], found }).verb).toBe('still_present')
  })

  test('AD2: a model makes a repeated fenced finding no milder, but a finding without a fence', () => {
    const again = (finding: Finding) => {
      const found = [{ ...finding, severity: 'low' as const }]
      return reconcileFindings({ ...NOTHING, open: [finding], found }).standing.map(({ severity }) => severity)
    }
    expect(again(fenced)).toEqual(['critical'])
    expect(again(unfenced)).toEqual(['low'])
  })

  test('a fenced finding stands in unchanged code, and is fixed if its first line was changed, for any code', () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        '',
        '}',
        '  }',
        `k = 'ghp_${'x1Y2'.repeat(9)}'`,
        '<!-- muster:v1 -->',
        'a & b…',
        '-----BEGIN RSA PRIVATE KEY-----',
      ),
    )
    const lines = fc.array(
      line.map((text) => text.replaceAll('\n', ' ')),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(lines, fc.nat(7), fc.nat(7), (texts, from, length) => {
        const patch = (rows: readonly string[]) =>
          `@@ -0,0 +1,${rows.length} @@\n${rows.map((row) => `+${row}`).join('\n')}`
        const startLine = (from % texts.length) + 1
        const last = Math.min(texts.length, startLine + length)
        const file = fileOf(patch(texts))
        const finding = findingOf({ kind: 'lines', path: PATH, side: 'RIGHT', startLine, line: last }, {}, file)
        expect(answer(finding, file).isOpen).toBe(true)
        const changed = texts.map((text, index) => (index < startLine ? `changed: ${text}` : text))
        const left = changed.slice(0, startLine)
        expect(answer(finding, fileOf(patch(left))).isOpen).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  test('many fenced findings in a large file take a bounded time', () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => `+  value(${index % 7}, '${'x'.repeat(60)}')`)
    const file = fileOf(`@@ -0,0 +1,3000 @@\n${rows.join('\n')}`)
    const location = { kind: 'lines', path: PATH, side: 'RIGHT', startLine: 1, line: 3 } as const
    const one = findingOf(location, {}, file)
    const open = Array.from({ length: 200 }, (_, index) => ({
      ...one,
      fingerprint: `f${index}`,
      quote: `${one.quote}${index}`,
    }))
    const start = performance.now()
    answer(one, file, { open })
    expect(performance.now() - start).toBeLessThan(5_000)
  })
})

const NOTHING = { announced: [], sameHead: [], rejected: [], lenses: [], files: [before], filesCut: false }

describe('a finding without a fence after the silence of its model', () => {
  test('a finding without a fence is fixed at a newer head: the model may change its mind', () => {
    expect(answer(unfenced, before)).toMatchObject({ verb: 'fixed', isOpen: false })
  })

  test('a finding without a fence stands at the same head: the code has not changed', () => {
    const sameHead = [unfenced.fingerprint]
    expect(answer(unfenced, before, { sameHead })).toEqual({
      verb: 'still_present',
      location: unfenced.location,
      isOpen: true,
    })
    const whole: Finding = { ...unfenced, location: { kind: 'file', path: PATH } }
    expect(answer(whole, before, { sameHead }).verb).toBe('still_present')
  })

  test('at the same head with another base a finding keeps its lines, and gets no comment outside of the diff', () => {
    const sameHead = [unfenced.fingerprint]
    const elsewhere = fileOf('@@ -90 +90,2 @@\n far()\n+away()')
    const location = { ...unfenced.location, inDiff: false }
    expect(answer(unfenced, elsewhere, { sameHead })).toEqual({ verb: 'still_present', location, isOpen: true })
    const twice = fileOf('@@ -1,2 +1,4 @@\n import db\n+db.run(sql)\n+db.run(sql)\n close()')
    expect(answer(unfenced, twice, { sameHead }).location).toEqual(unfenced.location)
  })

  test.each(['quote_not_found', 'over_limit'] as const)(
    'a finding without a fence stands if a rejected claim may mean it (%s), and its code still stands',
    (reason) => {
      const rejected = [rejection(unfenced, reason)]
      expect(answer(unfenced, before, { rejected })).toMatchObject({ verb: 'still_present', isOpen: true })
      expect(answer(unfenced, fileOf('@@ -1 +1,2 @@\n import db\n+other()'), { rejected }).verb).toBe('fixed')
      expect(answer(unfenced, before, { rejected: [{ ...rejection(unfenced, reason), rule: 'crash' }] }).verb).toBe(
        'fixed',
      )
    },
  )

  test('a finding about the title or the description is fixed by an edit, also at the same head', () => {
    const whole: Finding = { ...unfenced, location: { kind: 'pull_request' } }
    expect(answer(whole, before, { sameHead: [whole.fingerprint] }).verb).toBe('fixed')
  })
})

describe('a finding that its analyzer doesn’t repeat', () => {
  const secret = findingOf(quoting('db.run(sql)'), {}, before, 'secrets')

  test('an analyzer’s silence fixes a finding, also in unchanged code: an analyzer says the same of the same code', () => {
    expect(answer(secret, before, { sameHead: [secret.fingerprint] }).verb).toBe('fixed')
  })

  test('an analyzer’s finding stays open if the limit of findings may have cut it', () => {
    const rejected = [rejection(secret, 'over_limit')]
    expect(answer(secret, before, { rejected })).toMatchObject({ verb: 'not_looked_at', isOpen: true })
  })
})
