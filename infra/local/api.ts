/** The HTTP API on one machine: each request becomes an event of payload format 2.0, as API Gateway makes it. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlainRoute } from '../plain-stack.ts'
import { type LocalService, serve } from './service.ts'

/** An HTTP API's largest payload, bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
const PAYLOAD_BYTES_MAX = 10 * 1024 * 1024

/** Content types whose bodies arrive as text; all others arrive as base64, forms too, as API Gateway does. */
const TEXT_TYPES = /^(text\/|application\/(json|javascript|xml)\b)/i

export interface ApiOptions {
  readonly routes: readonly PlainRoute[]
  readonly invoke: (functionName: string, event: unknown, signal: AbortSignal) => Promise<unknown>
  readonly port?: number
}

interface HttpResult {
  readonly statusCode?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly isBase64Encoded?: boolean
}

/** Serves the routes on loopback. A function that throws is a 500 without details, as on AWS. */
export function startApi({ routes, invoke, port }: ApiOptions): Promise<LocalService> {
  return serve((request, response) => {
    answer(request, response).catch(() => send(response, 500, { message: 'Internal Server Error' }))
  }, port)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://api')
    const found = routeFor(routes, request.method ?? 'GET', url.pathname)
    if (!found) return send(response, 404, { message: 'Not Found' })
    const bytes = await bodyOf(request)
    if (!bytes) return send(response, 413, { message: 'Request Entity Too Large' })
    const closed = new AbortController()
    response.once('close', () => closed.abort())
    const result = (await invoke(
      found.route.function,
      { ...eventOf(request, url, bytes), ...found.event },
      closed.signal,
    )) as HttpResult | null
    if (typeof result?.statusCode !== 'number') return send(response, 500, { message: 'Internal Server Error' })
    response.writeHead(result.statusCode, { ...result.headers })
    response.end(Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8'))
  }
}

/**
 * The route of a request, with API Gateway's fields of the route in the event. `{name}` in a path takes one segment,
 * `{name+}` the rest of the path.
 */
function routeFor(routes: readonly PlainRoute[], method: string, pathname: string) {
  for (const route of routes) {
    if (route.method !== method) continue
    const pattern = route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)').replace(/\{(\w+)\+\}/g, '(?<$1>.+)')
    const match = new RegExp(`^${pattern}$`).exec(pathname)
    if (!match) continue
    const pathParameters = match.groups && Object.fromEntries(Object.entries(match.groups))
    return { route, event: { routeKey: `${method} ${route.path}`, ...(pathParameters ? { pathParameters } : {}) } }
  }
  return undefined
}

function eventOf(request: IncomingMessage, url: URL, bytes: Buffer): object {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  )
  const isText = TEXT_TYPES.test(request.headers['content-type'] ?? '')
  const method = request.method ?? 'GET'
  return {
    version: '2.0',
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    requestContext: {
      http: {
        method,
        path: url.pathname,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      stage: '$default',
      timeEpoch: Date.now(),
    },
    ...(bytes.byteLength > 0 ? { body: bytes.toString(isText ? 'utf8' : 'base64') } : {}),
    isBase64Encoded: bytes.byteLength > 0 && !isText,
  }
}

/** The whole body; undefined for a body beyond API Gateway's limit. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > PAYLOAD_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, status: number, content: object): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(content))
}
