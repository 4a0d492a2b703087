/** What a function's environment says. Asked for once, at the container's start, with a clear refusal if it is missing. */
import { Refused } from '../errors.ts'
import { type Timings, timingsOf } from '../timings.ts'

/** The value of an environment variable; throws Refused `environment_missing` if it is absent or empty. */
export function environment(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new Refused(
      'environment_missing',
      `The environment variable ${name} is not set.`,
      'Deploy the stack again: the function and its environment come from the same template.',
    )
  }
  return value
}

/** The value of an environment variable that may be absent. */
export function optionalEnvironment(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

/** The deployment's timings: LEASE_SECONDS is the lease of a review, HEARTBEAT_SECONDS its renewal; all others follow. */
export function timings(): Timings {
  return timingsOf(millisecondsOf('LEASE_SECONDS'), millisecondsOf('HEARTBEAT_SECONDS'))
}

function millisecondsOf(name: string): number | undefined {
  const seconds = optionalEnvironment(name)
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
