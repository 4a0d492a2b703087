/** A simulated service behind HTTP, so that a real SDK client, and a contract suite, can talk to it. */
import { setTimeout as after } from 'node:timers/promises'
import { type LocalService, serve } from '../../../infra/local/service.ts'
import type { SimulatedService, WireAnswer, WireRequest } from './service.ts'

/** How often a request whose answer is waited for is asked again. */
const AGAIN_MS = 5

export interface ServeOptions {
  /** How long, in ms of the real world, a request is asked again before this answer is given. Absent: not at all. */
  readonly waitMs?: (request: WireRequest, answer: WireAnswer) => number
  /** What a character of the service's bodies stands for. Absent: UTF-8. */
  readonly encoding?: 'utf8' | 'latin1'
}

/** Serves on loopback until closed. */
export async function serveSimulated(
  simulated: SimulatedService,
  { waitMs = () => 0, encoding = 'utf8' }: ServeOptions = {},
): Promise<LocalService & AsyncDisposable> {
  const service = await serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
    )
    const { method = '', url: path = '' } = request
    const wire = { method, path, headers, body: Buffer.concat(chunks).toString(encoding) }
    const began = performance.now()
    let answer = simulated.answer(wire)
    while (performance.now() - began < waitMs(wire, answer) && !response.destroyed) {
      await after(AGAIN_MS)
      answer = simulated.answer(wire)
    }
    response.writeHead(answer.status, { ...answer.headers })
    response.end(Buffer.from(answer.body, encoding))
  })
  return { ...service, [Symbol.asyncDispose]: () => service.close() }
}
