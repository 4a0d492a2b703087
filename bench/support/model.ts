/** A model on loopback without findings: the benches measure Muster's own part. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ModelStandIn {
  readonly baseUrl: string
  /** The number of answered prompts. */
  readonly answered: number
  /** The most concurrent prompts. */
  readonly mostAtOnce: number
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

/** Answers each prompt after `answerMs`; by default at once. */
export async function startModel(answerMs: () => number = () => 0): Promise<ModelStandIn> {
  let answered = 0
  let thinking = 0
  let mostAtOnce = 0
  const listener: RequestListener = (request, response) => {
    request.resume().once('end', async () => {
      thinking += 1
      mostAtOnce = Math.max(mostAtOnce, thinking)
      const ms = answerMs()
      if (ms > 0) await sleep(ms)
      thinking -= 1
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
    get mostAtOnce() {
      return mostAtOnce
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
