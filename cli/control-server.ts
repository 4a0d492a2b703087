/**
 * The control server of a running stack, for other `muster` commands: on loopback, with a token in a file for its owner
 * only. An answer is a stream of lines, each a JSON value: progress, then the outcome or the failure.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LocalService, serve } from '../infra/local/service.ts'
import { sha256 } from '../shared/base/digest.ts'
import { explain } from './errors.ts'
import type { ExitName } from './exit-codes.ts'
import { type Progress, type Reviewer, type ReviewOutcome, reviewRequestSchema } from './request.ts'

export type ControlLine =
  | { readonly progress: Progress }
  | { readonly outcome: ReviewOutcome }
  | { readonly failure: { readonly code: string; readonly text: string; readonly exit: ExitName } }
  /** No news; the stack still works. */
  | { readonly alive: true }

/** The answer to `GET /`. */
export interface ControlStatus {
  readonly pid: number
  /** Name of the stack's model; null without a model. */
  readonly model: string | null
  /** False where the stack serves a real GitHub, which has no pull requests of local repositories. */
  readonly reviewsLocally: boolean
}

export interface ControlServer extends LocalService {
  readonly token: string
}

/** A title and a description fit many times, bytes. */
const REQUEST_BYTES_MAX = 1024 * 1024
/** The longest pause between two lines, ms: the client tells a long review from a dead stack. */
const ALIVE_EVERY_MS = 5_000

/** Starts the server; `reviewer` is undefined for a stack without local reviews. */
export async function openControlServer(status: ControlStatus, reviewer: Reviewer | undefined): Promise<ControlServer> {
  const token = randomBytes(32).toString('hex')
  const service = await serve((request, response) => {
    answer(request, response).catch((error: unknown) => end(response, 500, { failure: explain(error) }))
  })
  return { ...service, token }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isAuthorized(request, token)) return end(response, 401, { message: 'The request needs the token of up.json.' })
    if (request.method === 'GET' && request.url === '/') return end(response, 200, status)
    if (request.method !== 'POST' || request.url !== '/reviews' || !reviewer) return end(response, 404, {})
    const parsed = reviewRequestSchema.safeParse(JSON.parse(await textOf(request)))
    if (!parsed.success)
      return end(response, 400, { message: 'The request does not have the form that this version of muster expects.' })

    const left = new AbortController()
    response.once('close', () => left.abort())
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const say = (line: ControlLine) => void response.write(`${JSON.stringify(line)}\n`)
    const alive = setInterval(() => say({ alive: true }), ALIVE_EVERY_MS)
    try {
      say({ outcome: await reviewer(parsed.data, (progress) => say({ progress }), left.signal) })
    } catch (error) {
      say({ failure: explain(error) })
    } finally {
      clearInterval(alive)
      response.end()
    }
  }
}

/** Compared as digests: equal length, and no information by time. */
function isAuthorized(request: IncomingMessage, token: string): boolean {
  const digest = (text: string) => Buffer.from(sha256(text))
  return timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${token}`))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > REQUEST_BYTES_MAX) throw new Error(`A request has at most ${REQUEST_BYTES_MAX} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function end(response: ServerResponse, status: number, content: object): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(content)}\n`)
}
