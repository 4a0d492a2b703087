/** Refusals and failures of the services: the answers that a storm puts in place of real answers. */
import type { Random } from '../kernel/random.ts'
import type { WireAnswer } from '../services/service.ts'

const JSON_1_0 = { 'content-type': 'application/x-amz-json-1.0' }
const JSON_PLAIN = { 'content-type': 'application/json; charset=utf-8' }
const XML = { 'content-type': 'application/xml' }

/** s; GitHub asks for a minute at least, and for longer after each ignored request to wait. */
const RETRY_AFTER_S = [5, 60, 120] as const

/** No capacity now: nothing was done. */
export function throttle(service: string, random: Random): WireAnswer {
  switch (service) {
    case 'github':
      return random.chance(0.5) ? secondaryLimit(random.pick(RETRY_AFTER_S)) : badRateLimit(random.pick(RETRY_AFTER_S))
    case 'documents':
      return { status: 503, headers: XML, body: '<Error><Code>SlowDown</Code><Message>Please reduce</Message></Error>' }
    case 'table':
      return aws(400, 'com.amazonaws.dynamodb.v20120810#ThrottlingException')
    case 'queues':
      return aws(403, 'com.amazonaws.sqs#RequestThrottled')
    default:
      return aws(400, 'ThrottlingException')
  }
}

/** The request failed before any effect. */
export function serverError(service: string): WireAnswer {
  if (service === 'github') return { status: 502, headers: JSON_PLAIN, body: '{"message":"Server Error"}' }
  if (service === 'documents') {
    return { status: 500, headers: XML, body: '<Error><Code>InternalError</Code><Message>We</Message></Error>' }
  }
  return aws(500, service === 'table' ? 'com.amazonaws.dynamodb.v20120810#InternalServerError' : 'InternalFailure')
}

/** The request took effect, but the answer denies the effect. */
export function brokenAnswer(service: string): WireAnswer {
  if (service === 'github') return { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Unicorn!</h1>' }
  return serverError(service)
}

/** GitHub refuses the location of a review's comment, and doesn't say which comment (AW79). */
export function unplaceable(): WireAnswer {
  const body = JSON.stringify({ message: 'Unprocessable Entity', errors: ['Line could not be resolved'] })
  return { status: 422, headers: JSON_PLAIN, body }
}

function aws(status: number, type: string): WireAnswer {
  return {
    status,
    headers: JSON_1_0,
    body: JSON.stringify({ __type: type, message: 'Simulated', Message: 'Simulated' }),
  }
}

function secondaryLimit(retryAfterS: number): WireAnswer {
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  return {
    status: 403,
    headers: { ...JSON_PLAIN, 'retry-after': String(retryAfterS) },
    body: JSON.stringify({ message }),
  }
}

/** The other known form of a limit: 429, with the time to wait. */
function badRateLimit(retryAfterS: number): WireAnswer {
  const headers = { ...JSON_PLAIN, 'retry-after': String(retryAfterS) }
  return { status: 429, headers, body: JSON.stringify({ message: 'API rate limit exceeded' }) }
}
