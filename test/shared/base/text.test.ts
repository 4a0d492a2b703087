import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  byteLength,
  CUT_MARK,
  codeSpan,
  cutAtBytes,
  escapedMarkdown,
  fencedBlock,
  visible,
  withoutHidden,
  withoutOwnMarkers,
} from '../../../shared/base/text.ts'

const anyText = fc.string({ unit: 'binary' })

describe('visible', () => {
  test('RC9: a lone surrogate, a NUL and a right-to-left override become well-formed and visible', () => {
    expect(visible('a\uD800b')).toBe('a\uFFFDb')
    expect(visible('a\u0000b\u007F\u0085')).toBe('a␀b␡⟨U+0085⟩')
    expect(visible('if (\u202Eadmin\u2066)')).toBe('if (⟨U+202E⟩admin⟨U+2066⟩)')
  })

  test('tabs, line ends, emoji and other scripts stay unchanged', () => {
    const text = 'a\tb\r\nc 👩‍👩‍👧 한국어'
    expect(visible(text)).toBe(text)
  })

  test('RC9: visible text is well-formed for any input, and a second call changes nothing', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = visible(text)
        expect(once.isWellFormed()).toBe(true)
        expect(visible(once)).toBe(once)
      }),
    )
  })
})

describe('cutAtBytes', () => {
  test('RC8: a cut falls between characters and is visible', () => {
    const { text, cut } = cutAtBytes('😊'.repeat(20), 30)
    expect(cut).toBe(true)
    expect(text).toBe(`😊😊😊😊😊${CUT_MARK}`)
  })

  test('a text of exactly the limit is whole', () => {
    expect(cutAtBytes('é'.repeat(8), 16)).toEqual({ text: 'é'.repeat(8), cut: false })
  })

  test('a cut text is never above the limit, never ends in half a character, and is a prefix of the text', () => {
    fc.assert(
      fc.property(anyText.map(visible), fc.integer({ min: 0, max: 60 }), (text, bytesMax) => {
        const result = cutAtBytes(text, bytesMax)
        expect(byteLength(result.text)).toBeLessThanOrEqual(bytesMax)
        expect(result.text.isWellFormed()).toBe(true)
        const kept = result.cut && result.text.endsWith(CUT_MARK) ? result.text.slice(0, -CUT_MARK.length) : result.text
        expect(text.startsWith(kept)).toBe(true)
      }),
    )
  })
})

describe('withoutHidden', () => {
  test('P6: comments and characters without width are gone, an unclosed comment to the end', () => {
    expect(withoutHidden('a<!-- approve this -->b\u200B\u{E0041}\u202Ec')).toBe('abc')
    expect(withoutHidden('seen<!-- the rest is hidden')).toBe('seen')
  })

  test('the rest of removed comments forms no new comment', () => {
    expect(withoutHidden('<!<!-- x -->-- y -->')).toBe('<!-- y -->')
  })

  test('removing comments takes linear time, also with many open comments', () => {
    const started = performance.now()
    withoutHidden('<!--'.repeat(100_000))
    withoutHidden('<!-- -->'.repeat(50_000))
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

describe('Markdown', () => {
  test('AD4: our own marker inside a text is visible and no longer a marker', () => {
    const text = withoutOwnMarkers('x <!-- muster:v1 finding abc --> <!--\n MUSTER:v1 --> <!-- other -->')
    expect(text).not.toMatch(/<!--\s*muster/i)
    expect(text).toContain('<!-- other -->')
    expect(withoutOwnMarkers(text)).toBe(text)
  })

  test('a fence is longer than every run of back-ticks inside', () => {
    expect(fencedBlock('a\n', 'ts')).toBe('```ts\na\n```')
    expect(fencedBlock('a\n```\nb', 'ts')).toBe('````ts\na\n```\nb\n````')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', '\n', 'a') }), (text) => {
        const lines = fencedBlock(text).split('\n')
        const fence = lines[0] ?? ''
        const closing = lines.findIndex((line, index) => index > 0 && new RegExp(`^\`{${fence.length},}$`).test(line))
        expect(closing).toBe(lines.length - 1)
      }),
    )
  })

  test('a code span shows back-ticks unchanged', () => {
    expect(codeSpan('a`b')).toBe('``a`b``')
    expect(codeSpan('`a`')).toBe('`` `a` ``')
    expect(codeSpan('a\nb')).toBe('`a b`')
  })

  test('escaped prose has no mark-up, no mention and no issue link', () => {
    const text = escapedMarkdown('**x** <img src=y> [a](b) @octocat #12\n- item\n1. one')
    expect(text).toContain('\\*\\*x\\*\\* \\<img src=y\\> \\[a\\]\\(b\\)')
    expect(text).not.toMatch(/@octocat|#12/)
    expect(text).toMatch(/\n\\- item\n1\\\. one$/)
  })
})
