/**
 * The JSON protocol of AWS services, seen from the server: a POST whose `X-Amz-Target` names the action, JSON in and
 * JSON out, errors by `__type`. The protocol knows nothing of the actions' meaning.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { ZodError, z } from 'zod'

export interface Call {
  /** The request's Host header: the name by which the caller reached the service. */
  readonly host: string
  /** Aborted when the caller leaves before the answer. */
  readonly signal: AbortSignal
}

/** The input is the request's JSON, unchecked; the result becomes the response's body. */
export type Action = (input: unknown, call: Call) => unknown

export interface JsonService {
  /** The prefix of the action in `X-Amz-Target`, such as `AmazonSQS`. */
  readonly target: string
  readonly version: '1.0' | '1.1'
  /** The prefix of the error code in `__type`, such as `com.amazonaws.sqs`. */
  readonly errorNamespace: string
  readonly bodyBytesMax: number
  readonly actions: Readonly<Record<string, Action>>
}

/** A refusal that the caller's SDK rebuilds as an error named `code`. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError'
  readonly code: string
  readonly status: number
  /** The code of the older query protocol, for services that still announce one. */
  readonly queryCode: string | undefined
  /** Members of the answer beside the message. */
  readonly members: Readonly<Record<string, unknown>>

  constructor(
    code: string,
    message: string,
    options: ErrorOptions & { status?: number; queryCode?: string; members?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options)
    this.code = code
    this.status = options.status ?? 400
    this.queryCode = options.queryCode
    this.members = options.members ?? {}
  }
}

/**
 * Answers requests to `service`. An error other than a `ServiceError` is logged whole and answered 500 without its
 * text.
 */
export function jsonListener(service: JsonService): RequestListener {
  return async (request, response) => {
    const left = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) left.abort()
    })
    try {
      const action = actionOf(service, request)
      const input = parseJson(await readBody(request, service.bodyBytesMax))
      const output = await action(input, { host: request.headers.host ?? '127.0.0.1', signal: left.signal })
      answer(response, service, 200, output ?? {})
    } catch (error) {
      if (request.destroyed && !request.complete) return // the caller went away: no answer is possible
      request.resume() // the rest of the request is read before the answer can be
      refuse(response, service, asServiceError(error))
    }
  }
}

function actionOf(service: JsonService, request: IncomingMessage): Action {
  const [target, name = ''] = String(request.headers['x-amz-target'] ?? '').split('.')
  const known = target === service.target && Object.hasOwn(service.actions, name)
  const action = known ? service.actions[name] : undefined
  if (request.method === 'POST' && action) return action
  throw new ServiceError(
    'UnknownOperationException',
    `${request.method} with target "${request.headers['x-amz-target'] ?? ''}" isn't served here. Served: ${Object.keys(service.actions).join(', ')}.`,
  )
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // An early end of the loop must leave the connection open for the refusal.
  const sent: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of sent) {
    bytes += chunk.length
    if (bytes > bytesMax) {
      throw new ServiceError('RequestEntityTooLarge', `A request may have ${bytesMax} bytes. Send less.`, {
        status: 413,
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ServiceError('SerializationException', `The body isn't JSON (${reason}). Use an AWS SDK.`)
  }
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof ZodError) return new ServiceError('SerializationException', z.prettifyError(error))
  console.error(error)
  return new ServiceError('InternalFailure', 'The local service failed; its log has the reason.', { status: 500 })
}

function refuse(response: ServerResponse, service: JsonService, error: ServiceError): void {
  if (error.queryCode !== undefined) {
    response.setHeader('x-amzn-query-error', `${error.queryCode};${error.status < 500 ? 'Sender' : 'Receiver'}`)
  }
  const { code, message, members } = error
  answer(response, service, error.status, { __type: `${service.errorNamespace}#${code}`, message, ...members })
}

function answer(response: ServerResponse, service: JsonService, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': `application/x-amz-json-${service.version}`,
    'content-length': bytes.length,
    'x-amzn-requestid': randomUUID(),
  })
  response.end(bytes)
}
