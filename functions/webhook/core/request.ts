/** An HTTP request of API Gateway (payload format 2.0), read as exact bytes and checked before any decision. */
import { Refused } from '../../../shared/base/errors.ts'
import { WEBHOOK_BODY_BYTES_MAX } from '../../../shared/base/limits.ts'

/** The members read from API Gateway's event. Header names arrive in lower case. */
export interface HttpRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string | undefined
  readonly isBase64Encoded: boolean
}

export interface Delivery {
  /** `X-GitHub-Event` */
  readonly event: string
  /** `X-GitHub-Delivery`, kept as text. */
  readonly id: string
  /** The exact bytes as UTF-8 text; a byte order mark stays (AW5). */
  readonly body: string
  readonly bodyBytes: number
  /** The media type alone: its parameters are the sender's own words. */
  readonly contentType: string
  /** `X-Hub-Signature-256`; the SHA-1 signature is ignored (AW7). */
  readonly signature: string | undefined
}

/** GitHub's delivery ids are UUIDs. Any short printable id is taken, as the test tools of tunnels send. */
const DELIVERY_ID = /^[0-9A-Za-z-]{1,80}$/
const EVENT_NAME = /^[a-z_]{1,60}$/

/**
 * The delivery in a request. Throws Refused: `malformed_headers`, `unsupported_media_type` (AW22), `body_too_large`,
 * `malformed_body` for bytes that aren't UTF-8. The body is decoded on the flag alone (AW4), never parsed here (AW1).
 */
export function deliveryOf(request: HttpRequest): Delivery {
  const event = request.headers['x-github-event'] ?? ''
  const id = request.headers['x-github-delivery'] ?? ''
  if (!EVENT_NAME.test(event) || !DELIVERY_ID.test(id)) {
    throw new Refused(
      'malformed_headers',
      'X-GitHub-Event or X-GitHub-Delivery is missing or malformed.',
      'Point the webhook URL of a GitHub App here.',
    )
  }
  const contentType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (contentType !== 'application/json') {
    throw new Refused(
      'unsupported_media_type',
      `The content type is ${contentType === '' ? 'missing' : 'not application/json'}.`,
      'Set the webhook’s content type to application/json.',
    )
  }
  const bytes = Buffer.from(request.body ?? '', request.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.byteLength > WEBHOOK_BODY_BYTES_MAX) {
    throw new Refused(
      'body_too_large',
      `The body has ${bytes.byteLength} bytes; at most ${WEBHOOK_BODY_BYTES_MAX} are accepted.`,
      'Only this event is lost: the next push of the pull request is reviewed.',
    )
  }
  if (bytes.byteLength === 0) {
    throw new Refused('malformed_body', 'The body is empty.', 'Send GitHub’s payload unchanged.')
  }
  const body = bytes.toString('utf8')
  if (!Buffer.from(body, 'utf8').equals(bytes)) {
    throw new Refused('malformed_body', 'The body is not UTF-8.', 'Send JSON as UTF-8, as GitHub does.')
  }
  return {
    event,
    id,
    body,
    bodyBytes: bytes.byteLength,
    contentType,
    signature: request.headers['x-hub-signature-256'],
  }
}
