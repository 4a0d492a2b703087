/**
 * The whole HTTP traffic between the parts of this process: the final state of a service shows nothing of overwritten,
 * consumed or refused content.
 */
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'
import type { Muster } from './harness.ts'

/** The called service. `api` is Muster's own API. */
export type Service = 'api' | 'github' | 'model' | 'dynamodb' | 'sqs' | 's3' | 'stepfunctions' | 'secrets'

export interface Exchange {
  readonly service: Service
  readonly method: string
  readonly url: string
  /** The AWS action, for example `PutItem`; empty for other requests. */
  readonly action: string
  readonly headers: Readonly<Record<string, string>>
  readonly request: string
  readonly status: number
  readonly response: string
}

export interface Tap {
  /** Every ended exchange, in the order of the ends. */
  readonly exchanges: readonly Exchange[]
  of(service: Service): readonly Exchange[]
  /** Removes the tap. To be called before the wire's close, because the tap lies upon the wire. */
  close(): void
}

/** Listens from now on, before the servers and before the wire's faults. Changes nothing. */
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
    // Data from the parser to the stream; a listener for `data` would take the data from the server.
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
