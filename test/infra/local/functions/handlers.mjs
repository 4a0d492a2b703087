/** A bundle as the local runtime loads it: each export is the handler of one function in the tests. */
import { writeFileSync } from 'node:fs'

let events = 0
let running = 0
let runningMost = 0

/** Reports the instance's events and its input. */
export function echo(event, context) {
  events += 1
  return {
    event,
    events,
    environment: { ...process.env },
    context: { ...context, remainingMs: context.getRemainingTimeInMillis() },
  }
}

/** Takes `event.ms`, and reports the number of concurrent events. */
export async function slow(event) {
  running += 1
  runningMost = Math.max(runningMost, running)
  await new Promise((resolve) => setTimeout(resolve, event.ms))
  running -= 1
  events += 1
  return { runningMost, events, n: event.n }
}

export async function fails(event) {
  const error = new Error('Someone else holds it.')
  error.name = event.name
  throw error
}

export const throwsText = () => {
  throw 'plain text'
}

export const nothing = () => undefined

export const circular = () => {
  const result = {}
  result.self = result
  return result
}

export const large = (event) => 'x'.repeat(event.characters)

export const spins = () => {
  for (;;);
}

export const exits = () => process.exit(3)

/** Leaves the id of its invocation in a file: the output of a dying worker may be lost. */
export const diesNamed = ({ how, path }, { awsRequestId }) => {
  writeFileSync(path, awsRequestId)
  if (how === 'exits') process.exit(3)
  for (;;);
}

export const rejectsInBackground = () => {
  Promise.reject(new Error('nobody waits for this'))
  return new Promise(() => undefined)
}

export const leaks = () => {
  const kept = []
  for (;;) kept.push(new Array(100_000).fill(kept.length))
}

export const prints = (event) => {
  console.log(event.line)
  console.error('second\nthird')
}
