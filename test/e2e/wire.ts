/**
 * Network faults between the parts of this process: a request that is refused, held, or done without an answer. The
 * parts know nothing of the wire.
 */
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'

/** The requests with a fault: by method and address, or by the AWS action in `x-amz-target`. */
export type Match = (request: { readonly method: string; readonly url: string; readonly target: string }) => boolean

export interface Fault {
  /** The number of requests until now. */
  readonly count: number
  /** Ends the fault: later requests pass. Held requests stay unanswered. */
  lift(): void
}

export interface Wire {
  /** Answers in place of the server; the request never reaches the server. */
  refuse(
    match: Match,
    answer: { status: number; body: object; headers?: Record<string, string> },
    times?: number,
  ): Fault
  /** The server handles the request, and the connection breaks before its answer. */
  loseAnswer(match: Match, times?: number): Fault
  /** The server handles the request, and another answer arrives. */
  answerInstead(match: Match, answer: { status: number; body: object }, times?: number): Fault
  /** The request gets no answer at all, and never reaches the server. */
  hold(match: Match): Fault
  /** Removes the wire; all faults end. */
  close(): void
}

interface OpenFault {
  readonly match: Match
  readonly happen: (request: IncomingMessage, response: ServerResponse) => 'goes_on' | 'ends_here'
  left: number
  count: number
}

/** Puts a wire before every HTTP server of this process. One wire at a time. */
export function openWire(): Wire {
  const faults: OpenFault[] = []
  const original = Server.prototype.emit
  Server.prototype.emit = function (this: Server, event: string | symbol, ...rest: unknown[]): boolean {
    if (event === 'request' && intercept(...(rest as [IncomingMessage, ServerResponse]))) return true
    return Reflect.apply(original, this, [event, ...rest])
  } as typeof original

  function intercept(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', url = '', headers } = request
    const target = String(headers['x-amz-target'] ?? '').replace(/^.*\./, '')
    const fault = faults.find(({ left, match }) => left > 0 && match({ method, url, target }))
    if (!fault) return false
    fault.left -= 1
    fault.count += 1
    return fault.happen(request, response) === 'ends_here'
  }

  function add(match: Match, times: number, happen: OpenFault['happen']): Fault {
    const fault: OpenFault = { match, happen, left: times, count: 0 }
    faults.push(fault)
    return {
      get count() {
        return fault.count
      },
      lift() {
        fault.left = 0
      },
    }
  }

  return {
    refuse: (match, answer, times = Number.POSITIVE_INFINITY) =>
      add(match, times, (request, response) => {
        request.resume()
        write(response, answer)
        return 'ends_here'
      }),
    loseAnswer: (match, times = Number.POSITIVE_INFINITY) =>
      add(match, times, (_request, response) => {
        response.end = () => response.destroy()
        return 'goes_on'
      }),
    answerInstead: (match, answer, times = Number.POSITIVE_INFINITY) =>
      add(match, times, (_request, response) => {
        const { end, writeHead } = response
        response.writeHead = () => response
        response.setHeader = () => response
        response.end = () => {
          Object.assign(response, { end, writeHead })
          write(response, answer)
          return response
        }
        return 'goes_on'
      }),
    hold: (match) => add(match, Number.POSITIVE_INFINITY, () => 'ends_here'),
    close() {
      Server.prototype.emit = original
    },
  }
}

/** Requests of an AWS action, for example `PutItem`. */
export const action =
  (name: string): Match =>
  ({ target }) =>
    target === name

/** Requests by method and a pattern of the address. */
export const route =
  (method: string, pattern: RegExp): Match =>
  (request) =>
    request.method === method && pattern.test(request.url)

function write(
  response: ServerResponse,
  answer: { status: number; body: object; headers?: Record<string, string> },
): void {
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  response.end(JSON.stringify(answer.body))
}
