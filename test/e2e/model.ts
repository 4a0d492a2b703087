/** A model on loopback led by a test during reviews: the answer depends on the prompt, and may wait. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ModelCall {
  /** All messages of the prompt. */
  readonly prompt: string
  /** True once the client has closed the connection before an answer. */
  readonly abandoned: boolean
}

export type ModelAnswer =
  | { readonly findings: readonly object[] }
  | { readonly status: number; readonly retryAfterSeconds?: number }

export interface LedModel {
  readonly baseUrl: string
  /** Every call, in the order of arrival. */
  readonly calls: readonly ModelCall[]
  /** Calls whose prompt holds this text. */
  callsAbout(text: string): readonly ModelCall[]
  /** From now on prompts with `text` get this answer; the newest matching rule counts. */
  answer(text: string, answer: ModelAnswer): void
  /** From now on prompts with `text` wait until `release`. Earlier prompts are not touched. */
  hold(text: string): { release(): void }
  close(): Promise<void>
}

interface Rule {
  readonly text: string
  readonly answer: Promise<ModelAnswer>
}

const NOTHING: ModelAnswer = { findings: [] }

/** Starts the model; without a matching rule the answer has no findings. */
export async function startModel(): Promise<LedModel> {
  const calls: (ModelCall & { abandoned: boolean })[] = []
  const rules: Rule[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { messages: unknown }
      const call = { prompt: textOf(messages), abandoned: false }
      calls.push(call)
      response.on('close', () => {
        call.abandoned = !response.writableFinished
      })
      const rule = rules.findLast(({ text }) => call.prompt.includes(text))
      void (rule?.answer ?? Promise.resolve(NOTHING)).then((answer) => send(response, answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    callsAbout: (text) => calls.filter(({ prompt }) => prompt.includes(text)),
    answer: (text, answer) => void rules.push({ text, answer: Promise.resolve(answer) }),
    hold(text) {
      const { promise, resolve } = Promise.withResolvers<ModelAnswer>()
      rules.push({ text, answer: promise })
      return {
        release() {
          rules.push({ text, answer: Promise.resolve(NOTHING) })
          resolve(NOTHING)
        },
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** All text in a chat's messages, in any form. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value).map(textOf).join('\n')
}

function send(response: ServerResponse, answer: ModelAnswer): void {
  if (response.destroyed) return
  const refused = 'status' in answer
  response.writeHead(refused ? answer.status : 200, {
    'content-type': 'application/json',
    ...(refused && answer.retryAfterSeconds !== undefined ? { 'retry-after': String(answer.retryAfterSeconds) } : {}),
  })
  if (refused) {
    response.end(JSON.stringify({ error: { message: 'The key is not valid.' } }))
    return
  }
  const message = { role: 'assistant', content: JSON.stringify(answer) }
  response.end(
    JSON.stringify({
      id: 'answer',
      object: 'chat.completion',
      created: 0,
      model: 'led',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  )
}
