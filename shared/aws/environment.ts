/** The environment of a function, read once at the container's start, with a clear refusal of a missing variable. */
import { Refused } from '../base/errors.ts'
import { type Timings, timingsOf } from '../fleet/timings.ts'

/** The value of an environment variable; throws Refused `environment_missing` for an absent or empty variable. */
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

/** The value of an optional environment variable. */
export function optionalEnvironment(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

/** The deployment's timings: LEASE_SECONDS is a review's lease, HEARTBEAT_SECONDS its renewal, PATIENCE_MINUTES its patience. */
export function timings(): Timings {
  return timingsOf(
    millisecondsOf('LEASE_SECONDS', SECOND_MS),
    millisecondsOf('HEARTBEAT_SECONDS', SECOND_MS),
    millisecondsOf('PATIENCE_MINUTES', MINUTE_MS),
  )
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

function millisecondsOf(name: string, unitMs: number): number | undefined {
  const count = optionalEnvironment(name)
  return count === undefined ? undefined : Number(count) * unitMs
}
