/**
 * Everything that goes between the parts of this process over HTTP, as it went: what a service holds at the end says
 * nothing about what was overwritten, consumed or refused before.
 */
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'
import type { Muster } from './harness.ts'

/** Who was asked. `api` is Muster's own door. */
export type Service = 'api' | 'github' | 'model' | 'dynamodb' | 'sqs' | 's3' | 'stepfunctions' | 'secrets'

export interface Exchange {
  readonly service: Service
  readonly method: string
  readonly url: string
  /** The AWS action, for example `PutItem`; empty for others. */
  readonly action: string
  readonly headers: Readonly<Record<string, string>>
  readonly request: string
  readonly status: number
  readonly response: string
}

export interface Tap {
  /** Every exchange that has ended, in the order of its end. */
  readonly exchanges: readonly Exchange[]
  of(service: Service): readonly Exchange[]
  /** Takes the tap away. Before the wire, which it lies upon. */
  close(): void
}

/** Listens from now on, before the servers and what the wire does to them. Changes nothing. */
export function openTap({ stack, model }: Pick<Muster, 'stack' | 'model'>): Tap {
  const services = new Map<number, Service>(
    (
      [
        ['api', stack.apiUrl],
        ['github', stack.github?.url],
        ['model', model.baseUrl],
        ['dynamodb', stack.endpoints.AWS_ENDPOINT_URL_DYNAMODB],
        ['sqs', stack.endpoints.AWS_ENDPOINT_URL_SQS],
        ['s3', stack.endpoints.AWS_ENDPOINT_URL_S3],
        ['stepfunctions', stack.endpoints.AWS_ENDPOINT_URL_SFN],
        ['secrets', stack.endpoints.AWS_ENDPOINT_URL_SECRETS_MANAGER],
      ] as const
    ).map(([service, url]) => [Number(new URL(url ?? '').port), service]),
  )
  const exchanges: Exchange[] = []
  const below = Server.prototype.emit
  Server.prototype.emit = function (this: Server, event: string | symbol, ...rest: unknown[]): boolean {
    if (event === 'request') listen(...(rest as [IncomingMessage, ServerResponse]))
    return Reflect.apply(below, this, [event, ...rest])
  } as typeof below

  function listen(request: IncomingMessage, response: ServerResponse): void {
    const service = services.get(request.socket?.localPort ?? 0)
    if (service === undefined) return
    const asked: Buffer[] = []
    const answered: Buffer[] = []
    const { push } = request
    // What the parser hands to the stream; a listener for `data` would take it from the server.
    request.push = (chunk: Buffer | null, encoding) => {
      if (chunk !== null) asked.push(Buffer.from(chunk))
      return Reflect.apply(push, request, [chunk, encoding])
    }
    const { write, end } = response
    response.write = ((chunk: unknown, ...more: unknown[]) => {
      keep(answered, chunk)
      return Reflect.apply(write, response, [chunk, ...more])
    }) as typeof write
    response.end = ((chunk: unknown, ...more: unknown[]) => {
      keep(answered, chunk)
      // Node's own `end` writes by another way than `write`.
      return Reflect.apply(end, response, [chunk, ...more])
    }) as typeof end
    response.once('close', () => {
      const { method = '', url = '', headers } = request
      exchanges.push({
        service,
        method,
        url,
        action: String(headers['x-amz-target'] ?? '').replace(/^.*\./, ''),
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        request: Buffer.concat(asked).toString('utf8'),
        status: response.statusCode,
        response: Buffer.concat(answered).toString('utf8'),
      })
    })
  }

  return {
    exchanges,
    of: (service) => exchanges.filter((exchange) => exchange.service === service),
    close() {
      Server.prototype.emit = below
    },
  }
}

function keep(chunks: Buffer[], chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string))
}
