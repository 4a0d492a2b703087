/** AWS JSON 1.0 as the SDK's Step Functions client speaks it: one POST for each action, named by `X-Amz-Target`. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Refusal } from './errors.ts'

export type Input = Readonly<Record<string, unknown>>

export type Actions = Readonly<Record<string, (input: Input) => object>>

const targetPrefix = 'AWSStepFunctions.'

/** Bytes: a StartExecution with the longest input, escaped, stays below this; nothing else is as long. */
const requestBytesMax = 2 * 1024 * 1024

/** Answers requests by `actions`. What they throw besides a `Refusal` becomes HTTP 500, which the SDK tries again. */
export function jsonListener(actions: Actions): RequestListener {
  return (request, response) => {
    handle(actions, request).then(
      (body) => send(response, 200, body),
      (error: unknown) => {
        if (error instanceof Refusal) send(response, 400, { __type: error.code, message: error.message })
        else
          send(response, 500, {
            __type: 'InternalFailure',
            message: error instanceof Error ? error.message : 'Failed.',
          })
      },
    )
  }
}

async function handle(actions: Actions, request: IncomingMessage): Promise<object> {
  const target = String(request.headers['x-amz-target'] ?? '')
  const name = target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : ''
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  const input = await readJson(request)
  if (!action) {
    const known = Object.keys(actions).join(', ')
    throw new Refusal('UnknownOperationException', `"${target}" is not served here. Use ${known}.`)
  }
  return action(input)
}

async function readJson(request: IncomingMessage): Promise<Input> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= requestBytesMax) chunks.push(chunk)
  }
  if (bytes > requestBytesMax) {
    throw new Refusal(
      'ValidationException',
      `The request has more than ${requestBytesMax} bytes. Pass keys, not content.`,
    )
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Input
  } catch {
    throw new Refusal('ValidationException', 'The request is no JSON. Send it with the AWS SDK.')
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() })
  response.end(JSON.stringify(body))
}
