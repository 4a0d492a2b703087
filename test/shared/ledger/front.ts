/** An HTTP front before a local service: it counts what passes, and can lose an answer that the service has given. */
import { request as send } from 'node:http'
import { type LocalService, serve } from '../../../infra/local/service.ts'

/** A request of the AWS JSON protocol: its operation, without the service's prefix, and its body. */
export interface Passed {
  readonly operation: string
  readonly body: Record<string, unknown>
}

export interface Front extends LocalService {
  /** Everything that reached the service, in order. */
  readonly passed: Passed[]
  /** The answer to the next request that `matches` is lost: the service does it, the client sees a reset. */
  loseAnswer(matches: (request: Passed) => boolean): void
  /**
   * Refuses every request that `matches` with the service's error of that name, until a call of the returned function.
   */
  refuse(matches: (request: Passed) => boolean, errorName: string): () => void
  /** Runs `effect` between the service's next answer to a request that `matches` and its arrival at the client. */
  beforeAnswer(matches: (request: Passed) => boolean, effect: () => Promise<void>): void
}

type Interception = { matches: (request: Passed) => boolean; lost: boolean; effect: () => Promise<void> }

/** Passes everything on to the service at `url`. */
export async function startFront(url: string): Promise<Front> {
  const passed: Passed[] = []
  const interceptions: Interception[] = []
  const refusals = new Set<{ matches: (request: Passed) => boolean; errorName: string }>()
  const service = await serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const target = String(request.headers['x-amz-target'] ?? '')
      const seen = { operation: target.slice(target.lastIndexOf('.') + 1), body: JSON.parse(body.toString('utf8')) }
      passed.push(seen)
      const refusal = [...refusals].find(({ matches }) => matches(seen))
      if (refusal) {
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
        response.end(JSON.stringify({ __type: refusal.errorName, message: 'Refused by the test.' }))
        return
      }
      const index = interceptions.findIndex(({ matches }) => matches(seen))
      const [interception] = index < 0 ? [] : interceptions.splice(index, 1)
      const { hostname, port } = new URL(url)
      const onward = send(
        { hostname, port, path: request.url, method: request.method, headers: request.headers },
        (answer) => {
          const parts: Buffer[] = []
          answer.on('data', (part: Buffer) => parts.push(part))
          answer.on('end', () => {
            void (interception?.effect() ?? Promise.resolve()).then(() => {
              if (interception?.lost) request.socket.destroy()
              else response.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(parts))
            })
          })
        },
      )
      onward.on('error', () => request.socket.destroy())
      onward.end(body)
    })
  })
  return {
    ...service,
    passed,
    loseAnswer(matches) {
      interceptions.push({ matches, lost: true, effect: () => Promise.resolve() })
    },
    refuse(matches, errorName) {
      const refusal = { matches, errorName }
      refusals.add(refusal)
      return () => refusals.delete(refusal)
    },
    beforeAnswer(matches, effect) {
      interceptions.push({ matches, lost: false, effect })
    },
  }
}
