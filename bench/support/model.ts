/** A model on loopback that answers at once and finds nothing: what is measured is Muster's own part. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ModelStandIn {
  readonly baseUrl: string
  /** Prompts answered so far. */
  readonly answered: number
  close(): Promise<void>
}

/** A chat completion of an OpenAI-compatible endpoint. */
const ANSWER = JSON.stringify({
  id: 'answer',
  object: 'chat.completion',
  created: 0,
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', content: '{"findings":[]}' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

export async function startModel(): Promise<ModelStandIn> {
  let answered = 0
  const listener: RequestListener = (request, response) => {
    request.resume().once('end', () => {
      answered += 1
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
    })
  }
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    get answered() {
      return answered
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
