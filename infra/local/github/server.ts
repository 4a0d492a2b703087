/** The stand-in's HTTP side: reads a request whole, gets its answer, writes the answer. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Api } from './api.ts'
import { Refusal } from './http.ts'
import type { RandomSource } from './random-source.ts'
import { encode, send } from './response.ts'

export interface ApiServer {
  listener: RequestListener
  /** Resolves when no request is at work, also not for clients that have left. */
  settled(): Promise<void>
}

/** Larger bodies are 413; no call that GitHub accepts comes near, in bytes. */
const BODY_BYTES_MAX = 10 * 1_024 * 1_024

export function createApiServer(api: Api, random: RandomSource, now: () => number): ApiServer {
  const underway = new Set<Promise<void>>()

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { method = 'GET', headers } = request
      const url = new URL(request.url ?? '/', `http://${headers.host ?? 'localhost'}`)
      const { result, encoded } = await api.answer({ method, url, headers, readBody: () => readBody(request) })
      send(response, encoded, result.interruption)
    } catch (error) {
      if (request.errored !== null) return // the client left in the middle of its request: no answer is possible
      console.error('github stand-in: a request failed', error)
      send(response, encode({ status: 500, json: { message: 'Server Error' } }, random, now()))
    }
  }

  return {
    listener: (request, response) => {
      const responding = respond(request, response).finally(() => underway.delete(responding))
      underway.add(responding)
    },
    settled: async () => void (await Promise.all(underway)),
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Refusal(413, 'Payload too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
