/** Operates the fleet of a running stack through the API, and reports the result. */
import type { LimitsPatch } from '../shared/fleet/ceiling.ts'
import type { FleetView, HaltView } from '../shared/fleet/fleet-view.ts'
import { callApi } from './api-client.ts'
import { CommandFailure } from './errors.ts'
import { fleetText, haltText } from './fleet-text.ts'
import { visibleLine } from './format.ts'
import type { RunView } from './run-view.ts'
import { findRunningStack } from './running-stack.ts'

export interface Context {
  /** Absolute. */
  readonly state: string
  /** True: print the API's answer unchanged, for programs. */
  readonly json: boolean
}

type RunState = Pick<RunView, 'run' | 'attempt' | 'state' | 'outcome' | 'reason'>

export async function showFleet(context: Context): Promise<string> {
  return answerText(context, await callStack<FleetView>(context, 'GET', '/fleet'), fleetText)
}

export async function setLimits(context: Context, patch: LimitsPatch): Promise<string> {
  return answerText(context, await callStack<FleetView>(context, 'PATCH', '/fleet/limits', patch), fleetText)
}

export async function halt(context: Context, scope: string, why: string | undefined): Promise<string> {
  const body = why === undefined ? {} : { why }
  return answerText(context, await callStack<HaltView>(context, 'PUT', haltPath(scope), body), haltText)
}

export async function resume(context: Context, scope: string): Promise<string> {
  const answer = await callStack<{ readonly lifted: HaltView | null }>(context, 'DELETE', haltPath(scope))
  return answerText(context, answer, ({ lifted }) =>
    lifted
      ? `The halt of ${scope} is lifted. Held runs go on within a minute.`
      : `No halt stood for ${visibleLine(scope)}.`,
  )
}

export async function cancel(context: Context, run: string): Promise<string> {
  const path = `/runs/${encodeURIComponent(run)}/cancel`
  return answerText(context, await callStack<RunState>(context, 'POST', path), (view) => {
    if (view.outcome !== 'cancelled') return `The run had ended already: ${view.outcome ?? view.state}.`
    return view.state === 'ended' ? 'The run is cancelled.' : 'The run is being cancelled.'
  })
}

export async function retry(context: Context, run: string): Promise<string> {
  const path = `/runs/${encodeURIComponent(run)}/retry`
  const answer = await callStack<RunState & { readonly status: string }>(context, 'POST', path)
  return answerText(context, answer, ({ status, attempt, state }) => {
    if (status === 'nothing_missing') return 'Nothing is missing: the run read everything.'
    return status === 'joined' ? `The run is at work: attempt ${attempt}, ${state}.` : `Attempt ${attempt} is ${state}.`
  })
}

async function callStack<T>({ state }: Context, method: string, path: string, body?: object): Promise<T> {
  const running = await findRunningStack(state)
  if (running) return callApi<T>(running.apiUrl, method, path, body)
  throw new CommandFailure(
    'stack_not_running',
    `No stack runs on the state ${state}.`,
    'Start a stack with "muster up", or name the --state of a running stack.',
    'unavailable',
  )
}

function haltPath(scope: string): string {
  return `/halts/${scope.split('/').map(encodeURIComponent).join('/')}`
}

function answerText<T extends object>({ json }: Context, answer: T, say: (answer: T) => string): string {
  return json ? JSON.stringify(answer, undefined, 2) : say(answer)
}
