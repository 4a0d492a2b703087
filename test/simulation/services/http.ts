/** A simulated service behind HTTP, so that a real SDK client, and a contract suite, can talk to it. */
import { type LocalService, serve } from '../../../infra/local/service.ts'
import type { SimulatedService } from './service.ts'

/** Serves on loopback until closed. */
export function serveSimulated(service: SimulatedService): Promise<LocalService> {
  return serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
    )
    const { method = '', url: path = '' } = request
    const answer = service.answer({ method, path, headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(answer.status, { ...answer.headers })
    response.end(answer.body)
  })
}
