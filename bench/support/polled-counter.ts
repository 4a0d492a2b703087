/**
 * The usual way to hold a ceiling across executions, for comparison only: a counter in DynamoDB that each waiting
 * execution tries to raise, and tries again after three seconds. The counter runs in the same simulated world, with the
 * same latencies.
 */

import { type Actor, actAs, newActor } from '../../test/simulation/kernel/actor.ts'
import type { ColdStart } from '../../test/simulation/kernel/bundle.ts'
import { randomOf } from '../../test/simulation/kernel/random.ts'
import type { WireAnswer } from '../../test/simulation/services/service.ts'
import { createTable, hosts } from '../../test/simulation/stack.ts'
import { openWorld } from '../../test/simulation/world.ts'
import { latencies, readingTimes } from './fleet-world.ts'
import type { Reading, Readings } from './readings.ts'

export interface PolledRun extends Readings {
  /** Writes of the counter, refused writes included. */
  readonly writes: number
}

/** ms between two tries. */
const POLL_MS = 3_000
/** ms within which waiting executions make their first try. */
const ARRIVALS_MS = 1_000
const WITHIN_MS = 12 * 3_600_000

/** `reviews` wait to be read at once; resolves when all are read. */
export async function runPolled(options: {
  coldStart: ColdStart
  reviews: number
  ceiling: number
  transitionMs: number
}): Promise<PolledRun> {
  const { coldStart, reviews, ceiling, transitionMs } = options
  const world = openWorld({
    seed: 1,
    coldStart,
    traced: false,
    lens: () => ({ durationMs: 0 }),
    weather: { faults: latencies(), missesSweep: () => true },
  })
  const random = randomOf(1, 201)
  const nextMs = readingTimes()
  const readings: Reading[] = []
  const startedAt = world.timeline.now
  let writes = 0
  let done = 0

  function write(actor: Actor, by: 1 | -1, answered: (answer: WireAnswer) => void): void {
    writes += 1
    const body = {
      TableName: createTable.TableName,
      Key: { pk: { S: 'COUNTER' }, sk: { S: 'COUNTER' } },
      UpdateExpression: 'ADD #held :by',
      ExpressionAttributeNames: { '#held': 'held' },
      ExpressionAttributeValues: {
        ':by': { N: String(by) },
        ...(by > 0 ? { ':ceiling': { N: String(ceiling) } } : {}),
      },
      ...(by > 0 ? { ConditionExpression: 'attribute_not_exists(#held) OR #held < :ceiling' } : {}),
    }
    const headers = { 'x-amz-target': 'DynamoDB_20120810.UpdateItem' }
    const request = { method: 'POST', path: '/', headers, body: JSON.stringify(body) }
    actAs(actor, () =>
      world.wire.send(hosts.table, request, (ending) => {
        if (ending.kind === 'answered') answered(ending.answer)
      }),
    )
  }

  function ask(actor: Actor): void {
    write(actor, 1, ({ status }) => {
      // The next state follows either way: the work, or the wait.
      const wait = status === 200 ? transitionMs : transitionMs + POLL_MS
      world.timeline.after(wait, actor, () => (status === 200 ? read(actor) : ask(actor)))
    })
  }

  function read(actor: Actor): void {
    const durationMs = nextMs()
    readings.push({ from: world.timeline.now, to: world.timeline.now + durationMs })
    world.timeline.after(durationMs, actor, () =>
      write(actor, -1, () => {
        done += 1
      }),
    )
  }

  for (let index = 0; index < reviews; index += 1) {
    const actor = newActor(`polls-${index}`)
    world.timeline.after(random.below(ARRIVALS_MS), actor, () => ask(actor))
  }
  const ended = await world.timeline.run(startedAt + WITHIN_MS, () => done === reviews)
  world.close()
  if (!ended) throw new Error(`Expected ${reviews} reviews to be read, got ${done}`)
  return { readings, startedAt, writes }
}
