/** A GitHub for tests of single calls: loopback, each answer written by the test, every request remembered. */
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LocalService, serve } from '../../../infra/local/service.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly authorization: string
  readonly body: string
}

/** Writes an answer; `destroy` the response's socket for none. */
export type Script = (asked: Asked, response: ServerResponse) => void

export interface Scripted extends LocalService {
  /** All requests except token requests. */
  readonly asked: Asked[]
  readonly tokenRequests: Asked[]
}

export const APP_ID = 77
export const INSTALLATION = 4711
export const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString()

/** Tokens are given out freely, numbered from 1; `script` answers the rest. */
export async function scripted(script: Script, tokenScript?: Script): Promise<Scripted> {
  const asked: Asked[] = []
  const tokenRequests: Asked[] = []
  const giveToken: Script = (_, response) =>
    json(response, 201, { token: `ghs_${tokenRequests.length}`, expires_at: '2099-01-01T00:00:00Z', permissions: {} })
  const service = await serve((request, response) => {
    read(request).then((seen) => {
      const forToken = seen.path.endsWith('/access_tokens')
      ;(forToken ? tokenRequests : asked).push(seen)
      ;(forToken ? (tokenScript ?? giveToken) : script)(seen, response)
    })
  })
  return { ...service, asked, tokenRequests }
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(body))
}

async function read(request: IncomingMessage): Promise<Asked> {
  let body = ''
  for await (const chunk of request) body += chunk
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    authorization: request.headers.authorization ?? '',
    body,
  }
}
