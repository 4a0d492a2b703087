import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { description, missingSections } from '../../../../functions/review/lenses/description/description.ts'
import { groundClaims } from '../../../../shared/findings/grounding.ts'
import { addedFile, lensInput, PULL_REQUEST } from './lens-input.ts'

const TEMPLATE = `<!-- Thanks! ## Not a section -->
## Summary
<!-- What and why -->

## 🧪 Testing:
Describe how you tested this.

- [ ] Unit tests
- [ ] By hand

### Screenshots (optional)

\`\`\`
## Not a section either
\`\`\`
`

const missing = (body: string, template = TEMPLATE) => missingSections(template, body)

describe('missingSections', () => {
  test('PR6: missingSections lists exactly the missing sections, in the words of the template', () => {
    expect(missing('')).toEqual(['Summary', '🧪 Testing:'])
    expect(missing('## Summary\nAdds widgets.')).toEqual(['🧪 Testing:'])
    expect(missing('## Summary\nAdds widgets.\n## Testing\nnpm test')).toEqual([])
  })

  test('PR6: a section with only the template’s own text is missing', () => {
    expect(missing(TEMPLATE)).toEqual(['Summary', '🧪 Testing:'])
    expect(missing(TEMPLATE.replace('[ ] Unit', '[x] Unit'))).toEqual(['Summary'])
  })

  test.each([
    ['another level', '# Summary\nx\n#### Testing\nx'],
    ['another case, a colon, an emoji', '## SUMMARY:\nx\n## ✅ testing\nx'],
    ['an underlined heading', 'Summary\n=======\nx\n\nTesting\n---\nx'],
    ['a heading in bold', '**Summary**\nx\n\n**Testing:**\nx'],
    ['closing number signs and CRLF', '## Summary ##\r\nx\r\n## Testing\r\nx'],
    ['mark-up in the heading', '## [Summary](#s)\nx\n## `Testing`\nx'],
    ['another order', '## Testing\nx\n## Summary\nx'],
    ['an image only', '## Summary\n![](a.png)\n## Testing\n![](b.png)'],
    ['content below a deeper heading', '## Summary\n### Why\nx\n## Testing\n### Unit\nx'],
    ['a line in bold as content', '## Summary\n**Adds widgets**\n## Testing\nx'],
  ])('missingSections is lenient about %s', (_, body) => {
    expect(missing(body)).toEqual([])
  })

  test.each([
    ['a comment', '## Summary\n<!-- later -->\n## Testing\nx'],
    ['an empty bullet', '## Summary\n- \n* [ ]\n## Testing\nx'],
    ['nothing but a heading below', '## Summary\n### Why\n## Testing\nx'],
    ['a heading inside a fence', '```\n## Summary\n```\n## Testing\nx'],
    ['a heading inside a comment', '<!--\n## Summary\nx\n-->\n## Testing\nx'],
  ])('%s is no content', (_, body) => {
    expect(missing(body)).toEqual(['Summary'])
  })

  test('a template without headings requires nothing', () => {
    expect(missing('', 'Please describe your change.\n**In bold**')).toEqual([])
  })

  test('a heading that only groups sections is not required', () => {
    expect(missing('## Why\nx', '# Checklist\n## Why\n## How\n')).toEqual(['How'])
  })

  test('missingSections answers for any texts, and a body that fills every heading lacks none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (template, body) => {
        const lacking = missingSections(template, body)
        expect(missingSections('', body)).toEqual([])
        expect(new Set(lacking).size).toBe(lacking.length)
      }),
    )
  })
})

describe('description', () => {
  const pullRequest = (body: string, bodyCut = false) => ({ ...PULL_REQUEST, body, bodyCut })
  const read = (body: string, template: string | undefined = TEMPLATE) =>
    description(lensInput([addedFile('a.ts', 'a')], { template, pullRequest: pullRequest(body) }))
  const groundedOnce = async (body: string) => {
    const { findings } = await read(body)
    const context = { files: [], texts: () => undefined, head: PULL_REQUEST.head, openFindings: [] }
    return groundClaims(findings, { lens: 'description', ...context }).findings
  }

  test('PR6: missing sections are one finding for the pull request as a whole, with severity low', async () => {
    expect((await read('')).findings).toMatchObject([
      { rule: 'missing-sections', severity: 'low', location: { kind: 'pull_request' } },
    ])
    expect((await read('')).findings[0]?.title).toBe('The description lacks “Summary”, “🧪 Testing:”')
  })

  test('PR6: the finding keeps its identity while edits change the list, and ends with the last missing section', async () => {
    const [before] = await groundedOnce('')
    const [after] = await groundedOnce('## Summary\nAdds widgets.')
    expect(after?.title).not.toBe(before?.title)
    expect(after?.fingerprint).toBe(before?.fingerprint)
    expect(await groundedOnce('## Summary\nx\n## Testing\nx')).toEqual([])
  })

  test('without a template nothing is required', async () => {
    const input = lensInput([], { pullRequest: pullRequest('') })
    expect((await description(input)).findings).toEqual([])
  })

  test('AD6: the finding says that the description was cut', async () => {
    const input = lensInput([], { template: TEMPLATE, pullRequest: pullRequest('## Summary\nx', true) })
    expect((await description(input)).findings[0]?.why).toContain('up to its size limit only')
  })
})
