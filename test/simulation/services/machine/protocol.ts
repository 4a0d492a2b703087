/** AWS's JSON protocol over a simulated wire: the target names the action, JSON in and out, errors by `__type`. */
import { ServiceError } from '../../../../infra/local/json-protocol.ts'
import { Refusal } from '../../../../infra/local/stepfunctions/errors.ts'
import type { WireAnswer, WireRequest } from '../service.ts'

export type Actions = Readonly<Record<string, (input: Readonly<Record<string, unknown>>) => object>>

const target = 'AWSStepFunctions.'

/** Answers a refusal. Any other error of an action is a mistake of the simulation and is thrown on. */
export function answerJson(request: WireRequest, actions: Actions): WireAnswer {
  try {
    return answer(200, actionOf(request, actions)(JSON.parse(request.body)))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return answer(error.status, { __type: `com.amazonaws.states#${error.code}`, message: error.message })
  }
}

function actionOf(request: WireRequest, actions: Actions): Actions[string] {
  const named = request.headers['x-amz-target'] ?? ''
  const name = named.startsWith(target) ? named.slice(target.length) : ''
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action) return action
  throw new Refusal('UnknownOperationException', `"${named}" is not served here.`)
}

function answer(status: number, body: object): WireAnswer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: JSON.stringify(body) }
}
