/** A simulated service behind HTTP, for real SDK clients and contract suites. */
import { setTimeout as after } from 'node:timers/promises'
import { type LocalService, serve } from '../../../infra/local/service.ts'
import type { SimulatedService, WireAnswer, WireRequest } from './service.ts'

/** The interval of repeated asking while a request waits for its answer. */
const AGAIN_MS = 5

export interface ServeOptions {
  /** How long, in real ms, a request is asked again before this answer is returned. Absent: no waiting. */
  readonly waitMs?: (request: WireRequest, answer: WireAnswer) => number
  /** Encoding of the characters of the service's bodies. Absent: UTF-8. */
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
