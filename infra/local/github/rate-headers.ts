/** The headers with the rest of an installation's hourly budget. The budget is counted, not enforced. */
import type { Layer } from './http.ts'

/** An installation's primary limit: docs.github.com, rate limits for the REST API. */
const REQUESTS_PER_HOUR = 5_000
const HOUR_MS = 3_600_000

interface Hour {
  endsAt: number
  used: number
}

export function rateHeaders(now: () => number): Layer {
  const hours = new Map<string, Hour>()
  return async (call, next) => {
    const answer = await next(call)
    if (call.actor.kind === 'nobody') return answer
    const key = call.actor.kind === 'app' ? 'app' : String(call.actor.installationId)
    let hour = hours.get(key)
    if (hour === undefined || hour.endsAt <= now()) hour = { endsAt: now() + HOUR_MS, used: 0 }
    hour.used += 1
    hours.set(key, hour)
    const headers = {
      'x-ratelimit-limit': String(REQUESTS_PER_HOUR),
      'x-ratelimit-remaining': String(Math.max(0, REQUESTS_PER_HOUR - hour.used)),
      'x-ratelimit-used': String(hour.used),
      'x-ratelimit-reset': String(Math.ceil(hour.endsAt / 1_000)),
      'x-ratelimit-resource': 'core',
    }
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }
}
