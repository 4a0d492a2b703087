import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deliveryOf, type HttpRequest } from '../../../../functions/webhook/core/request.ts'
import { isFailure } from '../../../../shared/base/errors.ts'
import { WEBHOOK_BODY_BYTES_MAX } from '../../../../shared/base/limits.ts'

function request(changes: Partial<HttpRequest> & { header?: Record<string, string | undefined> } = {}): HttpRequest {
  const { header, ...rest } = changes
  return {
    headers: {
      'x-github-event': 'pull_request',
      'x-github-delivery': '089a2a60-4fc8-11f0-8181-e546625a3c66',
      'content-type': 'application/json',
      'x-hub-signature-256': 'sha256=ab',
      ...header,
    },
    body: '{}',
    isBase64Encoded: false,
    ...rest,
  }
}

const inBase64 = (bytes: Uint8Array | string) =>
  request({ body: Buffer.from(bytes as string).toString('base64'), isBase64Encoded: true })

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (isFailure(error, 'refused')) return error.code
    throw error
  }
  return 'none'
}

describe('deliveryOf', () => {
  it('AW1, AW2: the body stays as sent, with escapes and blanks', () => {
    for (const body of ['{"a":1 }', '{"t":"\\u003cp\\u003e"}', '{"n":1.0}']) {
      expect(deliveryOf(request({ body })).body).toBe(body)
    }
  })

  it('AW4: a base64 body is decoded on the flag alone', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (body) => {
        const text = body.toWellFormed()
        expect(deliveryOf(inBase64(text))).toEqual(deliveryOf(request({ body: text })))
      }),
    )
    const looksEncoded = Buffer.from('{}').toString('base64')
    expect(deliveryOf(request({ body: looksEncoded })).body).toBe(looksEncoded)
  })

  it('AW5: a byte order mark stays, as the signature covers it', () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])
    const delivery = deliveryOf(inBase64(bytes))
    expect(Buffer.from(delivery.body, 'utf8').equals(bytes)).toBe(true)
    expect(delivery.bodyBytes).toBe(5)
  })

  it('bytes outside of UTF-8 are malformed, not repaired', () => {
    expect(codeOf(() => deliveryOf(inBase64(new Uint8Array([0x7b, 0xff, 0x7d]))))).toBe('malformed_body')
  })

  it('AW7: the SHA-1 signature is ignored', () => {
    const header = { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=ab' }
    expect(deliveryOf(request({ header })).signature).toBeUndefined()
  })

  it.each([
    ['application/json; charset=utf-8', 'none'],
    ['Application/JSON', 'none'],
    ['application/x-www-form-urlencoded', 'unsupported_media_type'],
    ['application/jsonp', 'unsupported_media_type'],
    [undefined, 'unsupported_media_type'],
  ])('AW22: the content type %j is read as a media type: %s', (contentType, code) => {
    expect(codeOf(() => deliveryOf(request({ header: { 'content-type': contentType } })))).toBe(code)
  })

  it.each([
    { 'x-github-event': undefined },
    { 'x-github-event': 'Pull Request' },
    { 'x-github-delivery': undefined },
    { 'x-github-delivery': 'a\nb' },
    { 'x-github-delivery': 'a'.repeat(81) },
  ])('headers unlike GitHub’s are malformed: %j', (header) => {
    expect(codeOf(() => deliveryOf(request({ header })))).toBe('malformed_headers')
  })

  it('a body is measured in bytes, and refused a single byte beyond the limit', () => {
    const most = 'é'.repeat(WEBHOOK_BODY_BYTES_MAX / 2)
    expect(deliveryOf(request({ body: most })).bodyBytes).toBe(WEBHOOK_BODY_BYTES_MAX)
    expect(codeOf(() => deliveryOf(request({ body: `${most}x` })))).toBe('body_too_large')
  })

  it.each([undefined, ''])('a request without a body (%s) is refused before anybody verifies it', (body) => {
    expect(() => deliveryOf(request({ body }))).toThrow(/^malformed_body: /)
  })
})
