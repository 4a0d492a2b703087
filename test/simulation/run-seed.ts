/** One seed: its world lives until rest, and the invariants look after each step. */
import type { Sometimes } from './counters.ts'
import { InvariantBroken, openInvariants } from './invariants/observer.ts'
import { BOUNDS } from './invariants/view.ts'
import type { ColdStart } from './kernel/bundle.ts'
import { randomOf } from './kernel/random.ts'
import { restWithinMs, watchRest } from './rest.ts'
import { lensesOf } from './scenario/lenses.ts'
import { openPeople } from './scenario/people.ts'
import { type Script, scriptOf } from './scenario/script.ts'
import { SLOW_MS, stormOf } from './scenario/storm.ts'
import { queues } from './stack.ts'
import { viewOf } from './view-of.ts'
import { openWitness } from './witness.ts'
import { openWorld, STARTS_AT, SWEEP_EVERY_MS, type World } from './world.ts'

export interface SeedOutcome {
  readonly seed: number
  /** The breach; absent if every invariant held. */
  readonly broken?: { readonly invariant: string; readonly message: string }
  readonly steps: number
  /** ms of the world's time. */
  readonly worldMs: number
  readonly seen: readonly Sometimes[]
  readonly script: Script
  /** Empty in an untraced seed, whose digest is then of nothing. */
  readonly trace: readonly string[]
  readonly digest: string
}

/** The seed's streams for the scenario; kernel and world have their own. */
const STREAMS = { script: 11, storm: 12, people: 13, lenses: 14 } as const
/** A world beyond so many steps goes round in circles. */
const STEPS_MAX = 300_000
/** Bounds that include the delay of a storm's slow requests. */
const bounds = {
  idleMs: BOUNDS.idleMs + SLOW_MS.to,
  haltMs: BOUNDS.haltMs + SLOW_MS.to,
  inFlightMs: BOUNDS.inFlightMs + SLOW_MS.to,
}

/** Runs one seed to its end. Rejects only if the simulation itself is broken. */
export async function runSeed(
  seed: number,
  coldStart: ColdStart,
  { traced }: { readonly traced: boolean },
): Promise<SeedOutcome> {
  const script = scriptOf(randomOf(seed, STREAMS.script))
  const witness = openWitness()
  const storm = stormOf(randomOf(seed, STREAMS.storm), script, witness.saw)
  let opened: World | undefined
  const world = (): World => {
    if (!opened) throw new Error('The world is not open yet.')
    return opened
  }
  const lenses = lensesOf(randomOf(seed, STREAMS.lenses), () => world().timeline.now)
  const random = randomOf(seed, STREAMS.people)
  const people = openPeople({ script, random, world, lenses, delaysWebhook: storm.delaysWebhook, saw: witness.saw })
  const rest = watchRest(world)
  const logs: string[] = []
  opened = openWorld({
    seed,
    coldStart,
    traced,
    lens: lenses.behaviourOf,
    weather: { ...storm, deliveriesOf: people.deliveriesOf },
    watcher: {
      ...witness,
      logged(room, message, fields) {
        logs.push(`${message} ${JSON.stringify(fields)}`)
        witness.logged(room, message, fields)
      },
    },
    environment: {
      LEASE_SECONDS: String(script.leaseSeconds),
      PATIENCE_MINUTES: String(script.patienceMinutes),
    },
  })
  const { timeline, trace, table } = opened
  table.onCommit(witness.committed)
  table.onCommit(rest.committed)
  const observer = openInvariants(viewOf(opened, { history: people.history, logs, bounds }))
  let steps = 0

  async function runUntil(at: number, done: () => boolean = () => false): Promise<boolean> {
    return timeline.run(at, () => {
      steps += 1
      if (steps > STEPS_MAX) throw new InvariantBroken('I5', 'It goes round in circles.', { ...rest.unrest() })
      observer.afterStep()
      return done()
    })
  }

  async function live(): Promise<void> {
    await people.begin()
    for (const action of script.actions) {
      await runUntil(STARTS_AT + action.at)
      trace.add(timeline.now, 'people', `${action.kind} of pull request ${action.pull}, choice ${action.choice}`)
      await people.act(action)
    }
    await runUntil(STARTS_AT + script.calmAt)
    trace.add(timeline.now, 'weather', 'nothing goes wrong any more')
    storm.end()
    lenses.calm()
    world().github.heal()
    const until = timeline.now + restWithinMs(script.leaseSeconds)
    for (;;) {
      const isRight = people.putRight()
      const next = Math.min(until, timeline.now + SWEEP_EVERY_MS)
      const isQuiet = await runUntil(next, () => isRight && people.underWay === 0 && rest.isAtRest())
      if (isQuiet) break
      if (timeline.now >= until) {
        throw new InvariantBroken('I5', 'It did not come to rest in time.', { ...rest.unrest() })
      }
    }
    for (const { deadLetters } of Object.values(queues)) {
      if (world().queues.messages(deadLetters).length > 0) witness.saw('event: dead letter')
    }
    observer.atRest()
  }

  let broken: SeedOutcome['broken']
  try {
    await live()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    broken = {
      invariant: error instanceof InvariantBroken ? error.id : error.name,
      message: error instanceof InvariantBroken ? error.message : `${error.stack ?? error.message} ${causeOf(error)}`,
    }
  } finally {
    opened.close()
  }
  const worldMs = timeline.now - STARTS_AT
  const seen = [...witness.seen]
  const outcome = { seed, steps, worldMs, seen, script, trace: trace.lines, digest: trace.digest() }
  return broken ? { ...outcome, broken } : outcome
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `because of ${cause.stack ?? cause.message}` : ''
}
