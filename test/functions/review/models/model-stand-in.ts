/** A model on loopback that speaks OpenAI's chat protocol and follows a script, request by request. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelChoice } from '../../../../shared/findings/lens.ts'

/** The answer to a request. The last turn of a script answers all further requests. */
export type ModelTurn =
  | { readonly kind: 'answer'; readonly content: unknown; readonly finishReason?: string }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Record<string, string>
      readonly body?: unknown
    }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Closes the connection without an answer. */
  | { readonly kind: 'drop' }

/** A request to the stand-in. */
export interface ModelRequest {
  readonly authorization: string | undefined
  readonly body: {
    readonly model: string
    readonly messages: readonly { readonly role: string; readonly content: unknown }[]
    readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: unknown } }
  }
}

export interface ModelStandIn extends AsyncDisposable {
  readonly baseUrl: string
  readonly requests: readonly ModelRequest[]
  /** Resolves after `count` requests. */
  arrived(count: number): Promise<void>
  /** A choice of this model, with the test's own deadline unless `more` has one, ms. */
  choice(more?: Partial<ModelChoice>): ModelChoice
}

/** Long enough for a loaded machine, short enough for a waiting test, ms. */
const TIMEOUT_MS = 20_000

/** Tokens reported by every answer. */
export const STAND_IN_USAGE = { inputTokens: 100, outputTokens: 20 } as const

/** The turn of a good answer: `content` as JSON. */
export const answers = (content: unknown): ModelTurn => ({ kind: 'answer', content: JSON.stringify(content) })

/** Starts a stand-in on a free port. `using` ends it with every open connection. */
export async function modelStandIn(...script: readonly [ModelTurn, ...ModelTurn[]]): Promise<ModelStandIn> {
  const requests: ModelRequest[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const turn = script[Math.min(requests.length, script.length - 1)] ?? script[0]
      requests.push({
        authorization: request.headers.authorization,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      })
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve()
      take(turn, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}/v1`
  return {
    baseUrl,
    requests,
    arrived: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    choice: (more = {}) => ({ model: 'stand-in', baseUrl, timeoutMs: TIMEOUT_MS, ...more }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function take(turn: ModelTurn, response: ServerResponse): void {
  switch (turn.kind) {
    case 'hang':
      return
    case 'drop':
      response.socket?.destroy()
      return
    case 'status':
      send(response, turn.status, turn.body ?? { error: { message: `status ${turn.status}` } }, turn.headers)
      return
    case 'answer':
      send(response, 200, {
        id: 'answer',
        object: 'chat.completion',
        created: 0,
        model: 'stand-in',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: turn.content },
            finish_reason: turn.finishReason ?? 'stop',
          },
        ],
        usage: {
          prompt_tokens: STAND_IN_USAGE.inputTokens,
          completion_tokens: STAND_IN_USAGE.outputTokens,
          total_tokens: STAND_IN_USAGE.inputTokens + STAND_IN_USAGE.outputTokens,
        },
      })
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
