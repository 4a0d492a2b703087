/** The refusals of S3: a code, its status, and the XML from which the SDK rebuilds an error. */

/** Codes of the S3 API reference, each with its HTTP status. */
const statusByCode = {
  BadDigest: 400,
  InternalError: 500,
  InvalidBucketName: 400,
  InvalidRequest: 400,
  KeyTooLongError: 400,
  MethodNotAllowed: 405,
  NoSuchKey: 404,
  NotImplemented: 501,
} as const

type S3ErrorCode = keyof typeof statusByCode

export class S3Error extends Error {
  override readonly name = 'S3Error'
  readonly code: S3ErrorCode
  readonly status: number

  constructor(code: S3ErrorCode, message: string) {
    super(message)
    this.code = code
    this.status = statusByCode[code]
  }
}

export function errorXml(error: S3Error, resource: string): string {
  const parts = { Code: error.code, Message: error.message, Resource: resource }
  const elements = Object.entries(parts).map(([name, text]) => `<${name}>${escaped(text)}</${name}>`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${elements.join('')}</Error>`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => entities[character] ?? '')
}
