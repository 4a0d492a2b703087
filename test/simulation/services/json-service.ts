/** The JSON protocol of AWS services, synchronous: shares its actions with the embedded services' HTTP servers. */

import { ZodError } from 'zod'
import { type Action, type JsonService, ServiceError } from '../../../infra/local/json-protocol.ts'
import type { SimulatedService, WireAnswer, WireRequest } from './service.ts'

const NOBODY_LEAVES = new AbortController().signal

/** Answers by the given actions, which must be synchronous. `name` begins the ids of requests. */
export function jsonService(name: string, service: Omit<JsonService, 'bodyBytesMax'>): SimulatedService {
  const { target, version, errorNamespace, actions } = service
  let requests = 0

  function perform({ headers, body }: WireRequest): unknown {
    const [, action] = headers['x-amz-target']?.split(`${target}.`) ?? []
    const act: Action | undefined = action === undefined ? undefined : actions[action]
    if (act === undefined) {
      throw new ServiceError('UnknownOperationException', `${headers['x-amz-target']} is not simulated.`)
    }
    return act(JSON.parse(body), { host: headers.host ?? '127.0.0.1', signal: NOBODY_LEAVES })
  }

  function answer(status: number, body: unknown, more: WireAnswer['headers'] = {}): WireAnswer {
    requests++
    const headers = { 'content-type': `application/x-amz-json-${version}`, 'x-amzn-requestid': `${name}-${requests}` }
    return { status, headers: { ...headers, ...more }, body: JSON.stringify(body) }
  }

  return {
    answer(request) {
      try {
        return answer(200, perform(request) ?? {})
      } catch (error) {
        const { code, status, message, queryCode } = asServiceError(error)
        const more = queryCode === undefined ? {} : { 'x-amzn-query-error': `${queryCode};Sender` }
        return answer(status, { __type: `${errorNamespace}#${code}`, message }, more)
      }
    },
  }
}

/**
 * An error that is no refusal of the service is a mistake of the simulation or a broken invariant, and is thrown on.
 */
function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof ZodError) return new ServiceError('SerializationException', error.message)
  throw error
}
