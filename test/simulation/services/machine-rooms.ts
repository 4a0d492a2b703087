/** Rooms that answer either engine according to a script, and record their calls. */
import { machineDefinition } from '../../../infra/machine.ts'
import { functionArn } from '../../infra/local/stepfunctions/machine.ts'
import type { InvocationOutcome } from './machine.ts'

/**
 * The scripted fate of one call. A room that waits for its token returns null at once, unless the answer says
 * otherwise.
 */
export type Answer =
  | { readonly returns: unknown }
  | { readonly throws: string }
  /** The token is answered after the function's return, before the return, or twice. */
  | { readonly token: unknown; readonly when?: 'later' | 'early' | 'twice' }
  | { readonly tokenFails: string }
  /** The function returns null, and the token stays unanswered. */
  | 'silent'
  /** The function never returns. */
  | 'hangs'

/** By room and, if any, review: `plan`, `admit first`, `review adjudication`. The last answer repeats. */
export type Script = Readonly<Record<string, readonly Answer[]>>

export const definition = machineDefinition(
  {
    plan: functionArn('plan'),
    admit: functionArn('admit'),
    review: functionArn('review'),
    conclude: functionArn('conclude'),
  },
  'aws',
)

export const runInput = JSON.stringify({ contract: 1, runId: 'run', attempt: 1 })

export const planned = (changes: object = {}): Answer => ({
  returns: { outcome: 'planned', ceiling: 2, reviews: ['first', 'second'], adjudication: 'adjudication', ...changes },
})
export const granted = (epoch = 1): Answer => ({ token: { outcome: 'granted', epoch } })
export const completed: Answer = { returns: { outcome: 'completed' } }
export const shown: Answer = { token: { outcome: 'shown' } }

/** The answers of an ordinary run. */
const usual: Script = {
  plan: [planned()],
  admit: [granted()],
  'admit adjudication': [{ token: { outcome: 'not_needed' } }],
  review: [completed],
  conclude: [shown],
}

export interface RoomsHost {
  /** ms since the beginning. */
  readonly elapsedMs: () => number
  readonly after: (ms: number, fn: () => void) => void
  /** Answers a token like a worker; returns the code of a refusal. */
  readonly answer: (token: string, outcome: { output: string } | { error: string; cause: string }) => string | undefined
}

export class ScriptedRooms {
  /** `ms key payload`, in the order of the calls. */
  readonly calls: string[] = []
  /** The engine's replies to token answers: undefined for an accepted answer. */
  readonly answered: (string | undefined)[] = []
  readonly #script: Script
  readonly #host: RoomsHost
  readonly #counts = new Map<string, number>()

  constructor(script: Script, host: RoomsHost) {
    this.#script = script
    this.#host = host
  }

  invoke(arn: string, payload: unknown, done: (outcome: InvocationOutcome) => void): void {
    const room = arn.slice(arn.lastIndexOf(':') + 1)
    const { token = '', ...rest } = payload as { token?: string; review?: string }
    const key = rest.review === undefined ? room : `${room} ${rest.review}`
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    this.calls.push(`${this.#host.elapsedMs()} ${key} ${JSON.stringify(rest)}`)
    const answers = this.#script[key] ?? this.#script[room] ?? usual[key] ?? usual[room] ?? []
    // Every call takes a different time, so that no two events of a run coincide.
    const tookMs = 1_000 + 17 * this.calls.length
    this.#play(answers[Math.min(count, answers.length - 1)] ?? 'hangs', token, tookMs, done)
  }

  #play(answer: Answer, token: string, tookMs: number, done: (outcome: InvocationOutcome) => void): void {
    const { after } = this.#host
    if (answer === 'hangs') return
    if (answer === 'silent') after(tookMs, () => done({ ok: null }))
    else if ('returns' in answer) after(tookMs, () => done({ ok: answer.returns }))
    else if ('throws' in answer) after(tookMs, () => done(thrown(answer.throws)))
    else this.#playToken(answer, token, tookMs, done)
  }

  #playToken(
    answer: Extract<Answer, { token: unknown } | { tokenFails: string }>,
    token: string,
    tookMs: number,
    done: (outcome: InvocationOutcome) => void,
  ): void {
    const { after, answer: send } = this.#host
    const outcome =
      'token' in answer ? { output: JSON.stringify(answer.token) } : { error: answer.tokenFails, cause: 'It said so.' }
    const when = ('when' in answer ? answer.when : undefined) ?? 'later'
    const sendIt = (): void => void this.answered.push(send(token, outcome))
    after(when === 'early' ? tookMs * 3 : tookMs, () => done({ ok: null }))
    after(tookMs * 2, sendIt)
    if (when === 'twice') after(tookMs * 4, sendIt)
  }
}

function thrown(error: string): InvocationOutcome {
  return { error, cause: JSON.stringify({ errorType: error, errorMessage: `${error} happened`, trace: [] }) }
}
