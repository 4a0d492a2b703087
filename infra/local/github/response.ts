/** Writes an answer to its client: whole, or interrupted as a network would where a test injected a fault. */
import type { ServerResponse } from 'node:http'
import type { Answer, Interruption } from './http.ts'
import type { RandomSource } from './random-source.ts'

/** An answer in its form on the wire. */
export interface Encoded {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export function encode(answer: Answer, random: RandomSource, nowMs: number): Encoded {
  const body = answer.bytes ?? (answer.json === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(answer.json)))
  const headers = {
    // Clients set their clock by this header after a 401, so the header follows the stand-in's own clock.
    date: new Date(nowMs).toUTCString(),
    'x-github-request-id': random.hex(8).toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    ...(body.length === 0 ? {} : { 'content-type': answer.contentType ?? 'application/json; charset=utf-8' }),
    'content-length': String(body.length),
    ...answer.headers,
  }
  return { status: answer.status, headers, body }
}

export function send(response: ServerResponse, { status, headers, body }: Encoded, interruption?: Interruption): void {
  const half = body.subarray(0, Math.floor(body.length / 2))
  switch (interruption) {
    case 'never':
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'truncated':
      response.writeHead(status, { ...headers, 'content-length': String(half.length) }).end(half)
      return
    case undefined:
      response.writeHead(status, headers).end(body)
  }
}
