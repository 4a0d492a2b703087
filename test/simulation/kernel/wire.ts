/** The wire between simulated processes and services: a request's arrival and its answer are one event each. */
import type { SettlingService, SimulatedService, WireAnswer, WireRequest } from '../services/service.ts'
import { type Actor, currentActor } from './actor.ts'
import type { Faults } from './faults.ts'
import type { Timeline } from './timeline.ts'
import type { Trace } from './trace.ts'

/** The service at an address. */
export type Service = SimulatedService | SettlingService

export interface WireOptions {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly faults: Faults
  /** By host: `192.0.2.1`. Bodies of a secret service are not traced. */
  readonly services: Readonly<
    Record<string, { readonly name: string; readonly service: Service; readonly isSecret?: boolean }>
  >
  /** Ends the process at once, like `kill -9`. */
  readonly kill: (actor: Actor) => void
  /**
   * Called after each request took its effect, with the service's own answer; an error of `arrived` ends the
   * simulation.
   */
  readonly arrived?: (service: string, request: WireRequest, answer: WireAnswer) => void
}

/** A request's end for its sender. A silently lost request never ends. */
export type Ending = { readonly kind: 'answered'; readonly answer: WireAnswer } | { readonly kind: 'reset' }

export interface Wire {
  /** Sends as the current actor. `ended` is called at most once, as that actor, and never after the actor's death. */
  send(host: string, request: WireRequest, ended: (ending: Ending) => void): void
  /**
   * The invocation whose request takes effect at this moment; undefined at any other moment, or for a request from
   * outside an invocation.
   */
  readonly invocation: string | undefined
}

/** Characters of a body in a line of the trace. */
const SHOWN_CHARS = 400
/** Digests and ids are cut, so that more of a body fits. */
const LONG_HEX = /[0-9a-f]{24,}/g
const HEX_CHARS = 8

/** Opens a wire to these services. */
export function openWire(options: WireOptions): Wire {
  const { timeline, trace, faults, services, kill } = options
  const network: Actor = { name: 'network', skewMs: 0, state: 'running' }
  let requests = 0
  let taken: string | undefined

  return {
    get invocation() {
      return taken
    },
    send(host, request, ended) {
      const sender = currentActor()
      if (!sender) throw new Error(`Nobody of the simulated world sends to ${host}.`)
      const target = services[host]
      if (!target) throw new Error(`There is no simulated service at ${host}.`)
      const { name, service, isSecret = false } = target
      const shown = (body: string) => (isSecret || !trace.isKept ? '…' : shortened(body))
      const fate = faults.fateOf({ service: name, actor: sender.name, request })
      requests += 1
      const id = `#${requests}`
      const say = (what: string) => trace.add(timeline.now, sender.name, `${id} ${what}`)
      if (trace.isKept) say(`→ ${name} ${request.method} ${summaryOf(request)}`)
      const from: Actor = sender
      const { invocation } = sender
      if (fate.kill === 'before') {
        say('dies before it is sent')
        kill(from)
        return
      }
      if (fate.lost?.what === 'request') {
        lose('request')
        return
      }
      if (fate.held) fate.held(goOn)
      else goOn()

      function goOn(): void {
        timeline.after(fate.requestMs, network, arrive)
        if (fate.againMs !== undefined) timeline.after(fate.requestMs + fate.againMs, network, arriveAgain)
      }

      function arrive(): void {
        if (from.state === 'killed' && !fate.survivesSender) say('is dropped with its sender')
        else take(answered)
      }

      function arriveAgain(): void {
        take((answer) => say(`arrives again: ${answer.status} ${shown(answer.body)}`))
      }

      /**
       * The service's whole work happens in this event. An error of the service is no answer: the simulation is broken.
       */
      function take(then: (answer: WireAnswer) => void): void {
        const done = (answer: WireAnswer) => {
          then(answer)
          options.arrived?.(name, request, answer)
        }
        const failed = (cause: unknown) =>
          timeline.fail(new Error(`The simulated ${name} failed at ${request.method} ${request.path}`, { cause }))
        if (fate.instead) done(fate.instead)
        else if ('answerLater' in service) service.answerLater(request).then(done).catch(failed)
        else {
          taken = invocation
          try {
            done(service.answer(request))
          } catch (cause) {
            failed(cause)
          } finally {
            taken = undefined
          }
        }
      }

      function answered(own: WireAnswer): void {
        const answer = fate.afterwards ?? own
        say(
          `← ${name} ${answer.status}${answer === own ? '' : ` (was ${own.status})`}${fate.instead ? ' (instead)' : ''} ${shown(answer.body)}`,
        )
        if (fate.kill === 'after' && from.state !== 'killed') {
          say('dies before it is answered')
          kill(from)
        } else if (fate.lost?.what === 'answer') lose('answer')
        else timeline.after(fate.answerMs, from, () => hear({ kind: 'answered', answer }))
      }

      function hear(ending: Ending): void {
        const { pauseMs } = fate
        if (pauseMs === undefined) ended(ending)
        else {
          say(`stands still for ${pauseMs} ms`)
          timeline.pause(from, pauseMs)
          timeline.after(pauseMs, from, () => ended(ending))
        }
      }

      function lose(what: 'request' | 'answer'): void {
        say(`loses its ${what}${fate.lost?.silently ? ' silently' : ''}`)
        if (!fate.lost?.silently) timeline.after(fate.answerMs, from, () => ended({ kind: 'reset' }))
      }
    },
  }
}

function summaryOf({ path, headers, body }: WireRequest): string {
  const target = headers['x-amz-target']
  return `${target ? target.slice(target.lastIndexOf('.') + 1) : path} ${shortened(body)}`
}

function shortened(body: string): string {
  const readable = body.replace(LONG_HEX, (hex) => `${hex.slice(0, HEX_CHARS)}…${hex.slice(-2)}`)
  return readable.length <= SHOWN_CHARS ? readable : `${readable.slice(0, SHOWN_CHARS)}… (${readable.length})`
}
