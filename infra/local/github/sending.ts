/** Writes an answer to its client: whole as a rule, and broken in the ways in which a network breaks it where a test asked for that. */
import type { ServerResponse } from 'node:http'
import type { Entropy } from './entropy.ts'
import type { Answer, Sending } from './http.ts'

/** An answer as it goes over the wire. */
export interface Encoded {
  status: number
  headers: Record<string, string>
  body: Buffer
}

declare global {
  interface JSON {
    /** ES2026, in Node.js since 22: a value that `stringify` writes as exactly this text. */
    rawJSON(text: string): object
  }
}

export function encode(answer: Answer, entropy: Entropy, nowMs: number): Encoded {
  const body = answer.bytes ?? (answer.json === undefined ? Buffer.alloc(0) : Buffer.from(jsonOf(answer.json)))
  const headers = {
    // Clients set their clock by this after a 401, so it follows the stand-in's own.
    date: new Date(nowMs).toUTCString(),
    'x-github-request-id': entropy.hex(8).toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    ...(body.length === 0 ? {} : { 'content-type': answer.contentType ?? 'application/json; charset=utf-8' }),
    'content-length': String(body.length),
    ...answer.headers,
  }
  return { status: answer.status, headers, body }
}

export function send(response: ServerResponse, { status, headers, body }: Encoded, sending?: Sending): void {
  const half = body.subarray(0, Math.floor(body.length / 2))
  switch (sending?.kind) {
    case 'never':
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'truncated':
      response.writeHead(status, { ...headers, 'content-length': String(half.length) }).end(half)
      return
    case 'slow': {
      response.writeHead(status, headers).write(half)
      const rest = setTimeout(() => response.end(body.subarray(half.length)), sending.pauseMs)
      response.once('close', () => clearTimeout(rest)) // the client left, or the stand-in closes
      return
    }
    case undefined:
      response.writeHead(status, headers).end(body)
  }
}

/** Ids beyond 2⁵³ are bigints here and numbers on the wire, with every digit, as GitHub writes them. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // Few answers hold one, and looking at every member costs more than all the rest.
    return JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member,
    )
  }
}
