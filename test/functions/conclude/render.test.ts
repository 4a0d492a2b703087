import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRunOf } from '../../../functions/conclude/core/check-run.ts'
import { labelOf } from '../../../functions/conclude/core/label.ts'
import { hiddenJson, inline, prose } from '../../../functions/conclude/core/markdown.ts'
import { reviewMessageOf } from '../../../functions/conclude/core/review-message.ts'
import { summaryOf } from '../../../functions/conclude/core/summary.ts'
import { ANNOTATIONS_MAX, GITHUB_BODY_BYTES_MAX, INLINE_COMMENTS_MAX } from '../../../shared/base/limits.ts'
import { byteLength } from '../../../shared/base/text.ts'
import { checkRunIdentity } from '../../../shared/publishing/check-run.ts'
import { markerOf, type ReviewMessage } from '../../../shared/publishing/github-payloads.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import {
  anyConclusion,
  CHANGES_REQUESTED,
  finding,
  HEAD,
  hostileText,
  INCOMPLETE,
  PASS,
  ROUNDS_OVER,
  titleOf,
} from './conclusions.ts'
import { withoutCode } from './markdown-reader.ts'

const COMMENT = { requestChanges: false }

/** The review as a page: the body, then each inline comment. */
function pageOf({ body, comments }: ReviewMessage): string {
  const parts = comments.map((comment) => {
    const start = comment.startLine === undefined ? '' : `${comment.startLine}-`
    return `=== ${comment.path} ${comment.side} ${start}${comment.line}\n\n${comment.body}`
  })
  return `${[body, ...parts].join('\n\n')}\n`
}

describe('rendered texts (read the files beside this test)', () => {
  const cases = {
    'changes-requested': CHANGES_REQUESTED,
    pass: PASS,
    incomplete: INCOMPLETE,
    'rounds-over': ROUNDS_OVER,
  }
  it.each(Object.entries(cases))('%s', async (name, conclusion) => {
    await expect(pageOf(reviewMessageOf(conclusion, COMMENT))).toMatchFileSnapshot(`./${name}.review.md`)
    await expect(`${summaryOf(conclusion).body}\n`).toMatchFileSnapshot(`./${name}.summary.md`)
    const { conclusion: colour, title, summary, annotations } = checkRunOf(conclusion)
    const shown = { colour, title, summary, annotations, label: labelOf(conclusion).label }
    await expect(`${JSON.stringify(shown, null, 2)}\n`).toMatchFileSnapshot(`./${name}.check.json`)
  })
})

describe('nothing is lost (I6)', () => {
  it('every finding stands in an inline comment or in the summary, whatever its text', () => {
    fc.assert(
      fc.property(anyConclusion, (conclusion) => {
        const { comments } = reviewMessageOf(conclusion, COMMENT)
        const all = [...comments.map(({ body }) => body), summaryOf(conclusion).body].join('\n')
        for (const at of conclusion.findings.keys()) expect(all).toContain(titleOf(at))
      }),
      { numRuns: 60 },
    )
  })

  it('R1: of 65 findings with lines 60 have inline comments, and the body names 5 and counts all', () => {
    const findings = Array.from({ length: 65 }, (_, at) => finding({ fingerprint: `f${at}`, title: titleOf(at) }))
    const message = reviewMessageOf({ ...CHANGES_REQUESTED, findings, announcedBefore: [] }, COMMENT)
    expect(message.comments).toHaveLength(INLINE_COMMENTS_MAX)
    expect(message.body).toContain('without an inline comment here (5)')
  })

  it('D9: an announced finding gets no new comment, and still counts', () => {
    const before = {
      ...CHANGES_REQUESTED,
      announcedBefore: CHANGES_REQUESTED.findings.map(({ fingerprint }) => fingerprint),
    }
    const message = reviewMessageOf(before, COMMENT)
    expect(message.comments).toEqual([])
    expect(message.body).toContain('1 critical, 1 important, 1 suggestion')
  })

  it('A1: a finding with lines outside of the diff has no inline comment', () => {
    const outside = finding({
      location: { kind: 'lines', path: 'a', side: 'RIGHT', startLine: 1, line: 1, inDiff: false },
    })
    expect(reviewMessageOf({ ...CHANGES_REQUESTED, findings: [outside] }, COMMENT).comments).toEqual([])
  })

  it('A3: a comment on one line has no start line', () => {
    const [one, several] = reviewMessageOf(CHANGES_REQUESTED, COMMENT).comments
    expect(one).toMatchObject({ line: 12 })
    expect(one).not.toHaveProperty('startLine')
    expect(several).toMatchObject({ startLine: 9, line: 11 })
  })
})

describe('limits of GitHub (S4)', () => {
  const long = 'é "quoted" & <tagged> '.repeat(700)

  function many(count: number, severity: 'critical' | 'low' = 'critical'): Conclusion {
    const findings = Array.from({ length: count }, (_, at) =>
      finding({
        fingerprint: `${at}`,
        severity,
        title: `${titleOf(at)} ${long.slice(0, 300)}`,
        why: long,
        clears: long,
      }),
    )
    return { ...CHANGES_REQUESTED, findings, announcedBefore: [], dispositions: [] }
  }

  it('every text stays within its limit, with room for the marker, for any conclusion', () => {
    fc.assert(
      fc.property(anyConclusion, (conclusion) => {
        const { body, comments, marker } = reviewMessageOf(conclusion, COMMENT)
        const summary = `${summaryOf(conclusion).body}\n${markerOf.summary(2 ** 53, 10 ** 9, 10 ** 15)}`
        for (const text of [body, summary, ...comments.map((comment) => comment.body)]) {
          expect(byteLength(text)).toBeLessThanOrEqual(GITHUB_BODY_BYTES_MAX)
        }
        expect(body.split('\n').at(-1)).toBe(marker)
      }),
      { numRuns: 40 },
    )
  })

  it('S4: blocking findings are shortened and never left out; suggestions go first; the summary names shed parts', () => {
    const conclusion = {
      ...many(150),
      findings: [...many(150).findings, ...many(150, 'low').findings.map((one) => ({ ...one, title: 'A suggestion' }))],
    }
    const { body } = summaryOf(conclusion)
    expect(byteLength(body)).toBeLessThanOrEqual(GITHUB_BODY_BYTES_MAX)
    for (let at = 0; at < 150; at += 1) expect(body).toContain(titleOf(at))
    expect(body).toContain('### Suggestions (150)')
    expect(body).toMatch(/Left out, because a comment has a limit: .*suggestions/)
    expect(body.split('\n').at(-1)).toMatch(/^<!-- muster:v1 data /)
  })

  it('S4: a short summary sheds nothing', () => {
    expect(summaryOf(CHANGES_REQUESTED).body).not.toContain('Left out')
  })

  it('thousands of blocking findings are named as far as there is room, and the rest is counted', () => {
    const { body } = summaryOf(many(3_000))
    expect(byteLength(body)).toBeLessThanOrEqual(GITHUB_BODY_BYTES_MAX)
    const named = new Set(body.match(/Finding\d{4}X/g)).size
    expect(named).toBeGreaterThan(400)
    expect(body).toContain(`and ${3_000 - named} more blocking findings`)
  })

  it('an inline comment with a long escaped text is cut, and keeps title and marker', () => {
    const [comment] = reviewMessageOf(many(1), COMMENT).comments
    expect(comment?.body).toContain(titleOf(0))
    expect(comment?.body.split('\n').at(-1)).toBe(markerOf.finding('0'))
    const worst = finding({ why: '<'.repeat(16_000), clears: '*'.repeat(40_000) })
    const [cut] = reviewMessageOf({ ...CHANGES_REQUESTED, findings: [worst] }, COMMENT).comments
    expect(byteLength(cut?.body ?? '')).toBeLessThanOrEqual(GITHUB_BODY_BYTES_MAX)
  })

  it('S1: annotations stop at their limit, also if the first findings have no lines', () => {
    const findings = [
      ...Array(50).fill(finding({ location: { kind: 'pull_request' } })),
      ...many(ANNOTATIONS_MAX + 9).findings,
    ]
    expect(checkRunOf({ ...CHANGES_REQUESTED, findings }).annotations).toHaveLength(ANNOTATIONS_MAX)
  })
})

describe('text from outside has only the allowed effects', () => {
  const LIVE: readonly (readonly [string, RegExp])[] = [
    ['a mention', /@\w/],
    ['a reference', /#\d|\bGH-\d/i],
    ['HTML', /(?<!\\)(?:\\\\)*<(?!sub>|\/sub>|details>|\/details>|summary>|\/summary>|!-- muster:v1 )/],
    ['a link or image', /(?<!\\)(?:\\\\)*\]\(/],
    ['an address', /\bhttps?:\/\/|\bwww\.\w/i],
    ['hidden direction', /[\u202A-\u202E\u2066-\u2069\0]/],
  ]

  it('AD4, P4: no mention, reference, HTML, link, address or hidden text is live in prose or in a line', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const written of [prose(text), inline(text)]) {
          expect(written.isWellFormed()).toBe(true)
          const live = withoutCode(written)
          for (const [what, pattern] of LIVE) expect(pattern.exec(live)?.[0], what).toBeUndefined()
        }
        expect(inline(text)).not.toContain('\n')
      }),
      { numRuns: 3_000 },
    )
  })

  it('AD4, P4: no mention, reference, HTML, link, address or hidden text is live in a whole page', () => {
    fc.assert(
      fc.property(anyConclusion, (conclusion) => {
        const { body, comments } = reviewMessageOf(conclusion, COMMENT)
        for (const written of [body, summaryOf(conclusion).body, ...comments.map((comment) => comment.body)]) {
          const live = withoutCode(written)
          for (const [what, pattern] of LIVE) expect(pattern.exec(live)?.[0], what).toBeUndefined()
        }
      }),
      { numRuns: 60 },
    )
  })

  it('AD4: a marker inside a finding is no marker of Muster, also inside code', () => {
    const forged = markerOf.review('other', 'plan')
    const hostile = finding({ title: forged, why: `\`\`\`\n${forged}\n\`\`\``, clears: `\`${forged}\`` })
    const conclusion = { ...CHANGES_REQUESTED, findings: [hostile] }
    const { body, comments } = reviewMessageOf(conclusion, COMMENT)
    for (const text of [body, summaryOf(conclusion).body, ...comments.map((comment) => comment.body)]) {
      expect(text).not.toContain(forged)
    }
  })

  it('adjacent code spans stay two spans', () => {
    expect(inline('`a`@b')).toBe('`a` `@b`')
  })

  it('a suggestion block of a model is shown, and can not be applied', () => {
    expect(prose('```suggestion\nrm -rf /\n```')).toBe('```text\nrm -rf /\n```')
  })

  it('code and lists stay readable', () => {
    expect(prose('Use `a_b` in:\n\n* one\n2) two')).toBe('Use `a_b` in:\n\n- one\n2. two')
  })

  it('no text ends the hidden JSON early', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const hidden = hiddenJson('muster:v1 data', { text })
        expect(hidden.slice(4, -3)).not.toMatch(/--|[<>]/)
        expect(JSON.parse(hidden.slice('<!-- muster:v1 data '.length, -' -->'.length))).toEqual({ text })
      }),
    )
  })

  it('rendering takes time in proportion to the text', () => {
    for (const unit of ['`', '@', 'a', '`a', '[', 'www.', 'a/', '#', '``` ', '\n```', '_', '&a']) {
      const startedAt = performance.now()
      prose(unit.repeat(16_384 / unit.length))
      expect(performance.now() - startedAt, JSON.stringify(unit)).toBeLessThan(2_000)
    }
  })
})

describe('colours', () => {
  const open = (severity: 'critical' | 'high' | 'medium' | 'low') => [finding({ severity })]

  it.each([
    ['changes requested: red', { findings: open('high') }, 'failure', 'muster: action required'],
    [
      'concerns with a material finding: neutral',
      { verdict: 'concerns', findings: open('medium') },
      'neutral',
      'muster: action required',
    ],
    [
      'concerns with suggestions only: neutral, passed',
      { verdict: 'concerns', findings: open('low') },
      'neutral',
      'muster: passed',
    ],
    ['PR3: incomplete: never red, never green', { verdict: 'incomplete', findings: [] }, 'neutral', 'muster: checking'],
    [
      'incomplete with a blocking finding: neutral, action required',
      { verdict: 'incomplete', findings: open('high') },
      'neutral',
      'muster: action required',
    ],
    ['pass: green', { verdict: 'pass', findings: [] }, 'success', 'muster: passed'],
    [
      'RO6: after the last round, material findings open: action required',
      { ...ROUNDS_OVER, findings: open('medium') },
      'action_required',
      'muster: action required',
    ],
    [
      'RO6: after the last round nothing is green',
      { ...ROUNDS_OVER, verdict: 'pass', findings: [] },
      'neutral',
      'muster: action required',
    ],
  ] as const)('%s', (_, changes, conclusion, label) => {
    const subject = { ...CHANGES_REQUESTED, ...changes } as Conclusion
    expect(checkRunOf(subject).conclusion).toBe(conclusion)
    expect(labelOf(subject).label).toBe(label)
  })

  it('a verdict is shown by the check run that was in progress', () => {
    const { externalId, name, head } = checkRunOf(CHANGES_REQUESTED)
    expect({ externalId, name, head }).toEqual(checkRunIdentity({ repository: { id: 1 }, number: 42, head: HEAD }))
  })

  it('changes are requested only if the configuration allows requests, and only for changes_requested', () => {
    expect(reviewMessageOf(CHANGES_REQUESTED, { requestChanges: true }).event).toBe('REQUEST_CHANGES')
    expect(reviewMessageOf(CHANGES_REQUESTED, COMMENT).event).toBe('COMMENT')
    expect(reviewMessageOf(INCOMPLETE, { requestChanges: true }).event).toBe('COMMENT')
  })

  it('J5: without a full reading no text says that nothing remains', () => {
    for (const conclusion of [
      { ...INCOMPLETE, findings: [] },
      { ...ROUNDS_OVER, findings: [] },
    ]) {
      const texts = [
        summaryOf(conclusion).body,
        reviewMessageOf(conclusion, COMMENT).body,
        checkRunOf(conclusion).summary,
      ]
      for (const text of texts) {
        expect(text).not.toContain('no critical or important finding remains')
        expect(text).not.toContain('Nothing to do')
      }
    }
  })
})
