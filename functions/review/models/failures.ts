/** Turns errors of the AI SDK into the closed set of failures, with a remedy for a person. */
import { APICallError } from 'ai'
import { Refused, Retry, sentenceOf } from '../../../shared/base/errors.ts'
import {
  MODEL_ERROR_BYTES_MAX,
  MODEL_RETRY_AFTER_DEFAULT_MS,
  MODEL_RETRY_AFTER_MAX_MS,
} from '../../../shared/base/limits.ts'
import { redact } from '../../../shared/base/redaction.ts'
import { cutAtBytes, folded, visible } from '../../../shared/base/text.ts'
import type { ModelChoice } from '../../../shared/findings/lens.ts'

/** The failure for an error of a call. */
export function failureOf(error: unknown, model: ModelChoice): Refused | Retry {
  const call = APICallError.isInstance(error) ? error : undefined
  const status = call?.statusCode
  const reason = cleaned(call?.responseBody ? messageIn(call.responseBody) : sentenceOf(error), model)
  const sentence = `${model.model} at ${model.baseUrl}${status === undefined ? '' : ` answered ${status}`}: ${reason}`
  const options = { cause: error }
  // A 2xx answer outside of the protocol: the URL is probably not that of an API.
  if (status !== undefined && status >= 200 && status < 300) {
    return new Refused(
      'model_reply_invalid',
      sentence,
      'Check that the base URL is that of an OpenAI-compatible API.',
      options,
    )
  }
  if (status === 402 || (status === 429 && isOfQuota(call?.responseBody))) {
    return new Refused('model_quota_exhausted', sentence, QUOTA_REMEDY, options)
  }
  if (status === 429 || isOutOfCapacity(call)) {
    return new Retry('model_throttled', sentence, retryAfterMs(call), options)
  }
  if (status === undefined || status >= 500 || status === 408 || status === 409) {
    return new Retry('model_unreachable', sentence, retryAfterMs(call), options)
  }
  return new Refused('model_refused', sentence, REMEDIES.get(status) ?? OTHER_REMEDY, options)
}

/** True if the endpoint refuses a schema in the request. */
export function isSchemaUnsupported(error: unknown): boolean {
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return false
  return /response_format|json_schema|structured.?output|\bgrammar\b/i.test(error.responseBody ?? '')
}

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [401, "Set the endpoint's API key."],
  [403, 'Give the API key access to this model.'],
  [404, 'Check the base URL and the name of the model.'],
  [413, 'Use a model with a larger context.'],
])
const QUOTA_REMEDY = 'Put credit on the account of the API key, or raise its quota; waiting does not help.'
const OTHER_REMEDY =
  'Check that the endpoint speaks the chat protocol of OpenAI and that the model has room for the prompt.'

/** A quota is used up until a person pays or raises it. Some endpoints call a rate by the minute a quota, too. */
const QUOTA = /quota|billing|credit|balance/i
const RATE = /rate|throttl|per_?(second|minute)|[rt]pm/i

/** True if the code of a 429 says that waiting is in vain; the sentence may say anything. */
function isOfQuota(body: string | undefined): boolean {
  return codesIn(body).some((code) => QUOTA.test(code) && !RATE.test(code))
}

/** 529 is Anthropic's status for "overloaded". A 503 means the same if it names a time, or says so by its code. */
function isOutOfCapacity(call: APICallError | undefined): boolean {
  if (call?.statusCode === 529) return true
  if (call?.statusCode !== 503) return false
  if (call.responseHeaders?.['retry-after'] !== undefined) return true
  return codesIn(call.responseBody).some((code) => /overloaded|capacity/i.test(code))
}

/** `retry-after` in seconds or as a date (RFC 9110), in ms from now. */
function retryAfterMs(call: APICallError | undefined): number {
  const header = call?.responseHeaders?.['retry-after']
  if (header === undefined) return MODEL_RETRY_AFTER_DEFAULT_MS
  const seconds = Number(header)
  const afterMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(afterMs)
    ? Math.min(Math.max(0, afterMs), MODEL_RETRY_AFTER_MAX_MS)
    : MODEL_RETRY_AFTER_DEFAULT_MS
}

function codesIn(body = ''): readonly string[] {
  const { code, type } = errorIn(body) ?? {}
  return [code, type].filter((name) => typeof name === 'string')
}

/** The message of an error in OpenAI's form, else the body. */
function messageIn(body: string): string {
  const { message } = errorIn(body) ?? {}
  return typeof message === 'string' ? message : body
}

/** The error in a body of OpenAI's form; undefined for another body, such as a proxy's page. */
function errorIn(body: string): { message?: unknown; code?: unknown; type?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(body)
    const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
    if (typeof error === 'string') return { message: error }
    return typeof error === 'object' && error !== null ? error : undefined
  } catch {
    return undefined
  }
}

/** An endpoint may repeat its key. */
function cleaned(text: string, model: ModelChoice): string {
  const withoutKey = model.apiKey === undefined || model.apiKey === '' ? text : text.replaceAll(model.apiKey, '[key]')
  return cutAtBytes(folded(redact(visible(withoutKey))), MODEL_ERROR_BYTES_MAX).text
}
