/** The small world: a table, programs at work, and Step Functions as far as it calls them; its steps, and what must hold. */
import { effectiveOf, effectiveOfPool, effectiveOfRepository } from '../../shared/ceiling.ts'
import { keyOf } from '../../shared/ledger/table.ts'
import { type Review, reviewIdOf } from '../../shared/review.ts'
import { FLEET_AT_REST, type Fleet, freePlaces, isAllowed, type Ticket } from '../../shared/schedule.ts'
import type { Step } from './explore.ts'
import { admit, BEGIN, limit, nameOf, type Planned, REVIEW_NUMBERS, runItem, sweep, tokenOf, work } from './fleet.ts'
import { begin, type Code, type Past, type Stand } from './program.ts'
import { keyText, perform, type Snapshot, storedOf, type TableRequest } from './snapshot.ts'

export interface Scenario {
  readonly reviews: readonly Planned[]
  readonly limits: object
  /** Changes of limits that come at any moment. */
  readonly changes?: readonly object[]
  /** Processes that may die, each at any moment. */
  readonly crashes?: number
  /** Looks of the sweeper at any due item, at any moment: on time, and when every lease has ended. */
  readonly sweeps?: number
  readonly expiries?: number
  /** What nobody comes between: one request, or the reads after a write too, so that all is read at one moment. */
  readonly atomic?: 'request' | 'write'
}

/** What Step Functions is at with a review: a token that waits, a worker that works, or nothing any more. */
interface Iteration {
  readonly turn: number
  readonly phase: 'admitting' | 'working' | 'held' | 'done'
  readonly epoch: number
  /** Invocations of the worker, each an owner of its own. */
  readonly tries: number
  /** The item at which the lease was another's: it is tried again when that has changed. */
  readonly seen?: number
}

interface Actor {
  readonly name: string
  readonly stand: Stand
  readonly review?: number
}

export interface State {
  readonly table: Snapshot
  readonly now: number
  readonly iterations: readonly Iteration[]
  readonly actors: readonly Actor[]
  readonly left: { readonly crashes: number; readonly sweeps: number; readonly expiries: number }
  readonly faulty: boolean
  readonly atomic: 'request' | 'write'
}

const SWEEP_MS = 61_000
const EXPIRY_MS = 600_000
const RECOVERIES_MAX = 12

export async function worldOf(scenario: Scenario): Promise<{
  first: State
  keyOf: (state: State) => string
  stepsFrom: (state: State) => Promise<Step<State>[]>
}> {
  const { reviews, changes = [] } = scenario
  const fleetItem = { ...keyOf.fleet(), ...FLEET_AT_REST, version: 1, limits: scenario.limits }
  const run = runItem()
  const table: Snapshot = new Map(
    [fleetItem, run].map((item) => [keyText(item), storedOf(item)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  const spawn = async (name: string, code: Code, now: number, more: Partial<Actor> = {}): Promise<Actor> => ({
    name,
    ...more,
    stand: await begin({ name, code, forgets: forgetsOf(name) }, now),
  })
  // Equal programs share their stands, whichever state begins them.
  const begun = new Map<string, Promise<Actor>>()
  const actor = (name: string, code: Code, now: number, more: Partial<Actor> = {}): Promise<Actor> => {
    const known = begun.get(`${name} ${now}`) ?? spawn(name, code, now, more)
    begun.set(`${name} ${now}`, known)
    return known
  }
  const admitOf = (review: number, turn: number, now: number) =>
    actor(`admit ${tokenOf(review, turn)}`, admit(reviews[review] ?? {}, review, turn), now, { review })
  const workOf = (review: number, { epoch, tries }: Iteration, now: number) => {
    const name = `worker ${review}.${epoch}.${tries}`
    return actor(name, work(reviews[review] ?? {}, review, epoch, name), now, { review })
  }

  const left = { crashes: scenario.crashes ?? 0, sweeps: scenario.sweeps ?? 0, expiries: scenario.expiries ?? 0 }
  const first: State = {
    table,
    now: BEGIN,
    iterations: reviews.map(() => ({ turn: 1, phase: 'admitting', epoch: 0, tries: 0 })),
    actors: [
      ...(await Promise.all(reviews.map((_, review) => admitOf(review, 1, BEGIN)))),
      ...(await Promise.all(changes.map((patch, index) => actor(`limits ${index}`, limit(patch), BEGIN)))),
    ],
    left,
    faulty: false,
    atomic: scenario.atomic ?? 'request',
  }

  const withIteration = (state: State, review: number, change: Partial<Iteration>): State => ({
    ...state,
    iterations: state.iterations.map((each, index) => (index === review ? { ...each, ...change } : each)),
  })
  const withActor = (state: State, added: Actor): State => ({ ...state, actors: [...state.actors, added] })

  async function admitAgain(state: State, review: number): Promise<State> {
    const turn = (state.iterations[review]?.turn ?? 0) + 1
    const next = withIteration(state, review, { turn, phase: 'admitting', epoch: 0, tries: 0 })
    return withActor(next, await admitOf(review, turn, state.now))
  }

  async function workAgain(state: State, review: number): Promise<State> {
    const { tries = 0 } = state.iterations[review] ?? {}
    const next = withIteration(state, review, { phase: 'working', tries: tries + 1 })
    const iteration = next.iterations[review]
    return iteration ? withActor(next, await workOf(review, iteration, state.now)) : next
  }

  /** What Step Functions does when a function it called has ended, or has died. */
  async function afterEnd(state: State, { name, review }: Actor, ended: string): Promise<State> {
    const iteration = review === undefined ? undefined : state.iterations[review]
    if (review === undefined || !iteration) {
      if (ended.startsWith('threw')) throw new Error(`${name} ${ended}`)
      return state
    }
    if (name.startsWith('admit')) {
      const waits = iteration.phase === 'admitting' && name === `admit ${tokenOf(review, iteration.turn)}`
      return waits && ended !== 'admitted' ? admitAgain(state, review) : state
    }
    if (iteration.phase !== 'working') return state
    if (ended === 'completed') return withIteration(state, review, { phase: 'done' })
    if (ended === 'stale') return admitAgain(state, review)
    if (ended === 'held') return withIteration(state, review, { phase: 'held', seen: itemOf(state, review) ?? -1 })
    if (ended.startsWith('threw')) throw new Error(`${name} ${ended}`)
    return workAgain(state, review)
  }

  async function answered(state: State, index: number): Promise<State> {
    const current = state.actors[index]
    const asks = current?.stand.asks
    if (!current || !asks) throw new Error('Expected an actor that waits')
    const { now } = state
    if (asks.kind === 'table') {
      const looksAtDue = current.name.startsWith('sweeper') && current.stand.isFirst
      const { table: after, answer } = perform(state.table, asks.request as TableRequest, looksAtDue)
      const { refusedBy, output } = answer
      const stand = await current.stand.after({
        key: answer.key,
        now,
        settle: ({ resolve, reject }) =>
          refusedBy ? reject(named('ConditionalCheckFailedException', { Item: refusedBy.item })) : resolve(output),
      })
      checkGrants(state, after)
      return moved({ ...state, table: after }, index, stand)
    }
    const { taskToken = '', output = '{}' } = asks.request as { taskToken?: string; output?: string }
    const review = Number(taskToken.split('.')[0])
    const iteration = state.iterations[review]
    const waits = iteration?.phase === 'admitting' && taskToken === tokenOf(review, iteration.turn)
    const stand = await current.stand.after({
      key: waits ? 'told' : 'dead',
      now,
      settle: ({ resolve, reject }) => (waits ? resolve({}) : reject(named('TaskTimedOut', {}))),
    })
    const next = await moved(state, index, stand)
    if (!waits) return next
    const { outcome, epoch } = JSON.parse(output) as { outcome: string; epoch: number }
    if (outcome !== 'granted') return withIteration(next, review, { phase: 'done' })
    return workAgain(withIteration(next, review, { phase: 'working', epoch, tries: 0 }), review)
  }

  async function moved(state: State, index: number, stand: Stand): Promise<State> {
    const current = state.actors[index]
    if (!current) return state
    if (stand.ended === undefined) {
      return { ...state, actors: state.actors.map((each, at) => (at === index ? { ...each, stand } : each)) }
    }
    return afterEnd({ ...state, actors: state.actors.filter((_, at) => at !== index) }, current, stand.ended)
  }

  /** Steps that need no fault. */
  async function ordinary(state: State): Promise<Step<State>[]> {
    const steps: Step<State>[] = []
    for (const [index, { name, stand }] of state.actors.entries()) {
      steps.push({ label: `${name}: ${stand.asks?.label}`, to: await answered(state, index) })
    }
    for (const [review, { phase, seen }] of state.iterations.entries()) {
      if (phase !== 'held' || itemOf(state, review) === seen) continue
      steps.push({ label: `worker of ${review} is called again`, to: await workAgain(state, review) })
    }
    return steps
  }

  async function deathsOf(state: State, dying: readonly Actor[]): Promise<Step<State>[]> {
    const crashes = state.left.crashes - 1
    if (crashes < 0) return []
    const steps: Step<State>[] = []
    for (const current of dying) {
      const actors = state.actors.filter((each) => each !== current)
      const dead = { ...state, actors, left: { ...state.left, crashes }, faulty: true }
      steps.push({ label: `${current.name} dies`, to: await afterEnd(dead, current, 'died') })
    }
    return steps
  }

  async function sweepsOf(
    state: State,
    aheads: readonly { ahead: number; left: State['left'] }[],
  ): Promise<Step<State>[]> {
    const steps: Step<State>[] = []
    for (const { ahead, left } of aheads) {
      for (const [text, item] of state.table) {
        const { dueAt, pk, sk } = item.plain as { dueAt?: number; pk: string; sk: string }
        if (dueAt === undefined || dueAt > state.now + ahead || sk === 'RUN') continue
        const now = state.now + ahead
        const added = await actor(`sweeper of ${text}`, sweep({ pk, sk }), now)
        if (state.actors.some(({ name }) => name === added.name)) continue
        steps.push({
          label: `${added.name}, ${ahead} ms later`,
          to: { ...withActor(state, added), now, left, faulty: true },
        })
      }
    }
    return steps
  }

  async function stepsFrom(state: State): Promise<Step<State>[]> {
    const alone = state.actors.findIndex((each) => isAlone(state, each))
    if (alone >= 0) {
      const current = state.actors[alone]
      const step = { label: `${current?.name}: ${current?.stand.asks?.label}`, to: await answered(state, alone) }
      return [step, ...(current ? await deathsOf(state, [current]) : [])]
    }
    if (!state.faulty && state.actors.every(isAtItsLens)) checkNobodyIdle(state)
    const steps = await ordinary(state)
    if (steps.length === 0) await checkRest(state)
    steps.push(...(await deathsOf(state, state.actors)))
    const { sweeps, expiries } = state.left
    const aheads = [
      ...(sweeps > 0 ? [{ ahead: SWEEP_MS, left: { ...state.left, sweeps: sweeps - 1 } }] : []),
      ...(expiries > 0 ? [{ ahead: EXPIRY_MS, left: { ...state.left, expiries: expiries - 1 } }] : []),
    ]
    return [...steps, ...(await sweepsOf(state, aheads))]
  }

  /** Nothing goes on by itself. Without a fault everything is done then; after one, the sweeper brings it to that. */
  async function checkRest(state: State): Promise<void> {
    const fleet = fleetOf(state.table)
    const parked = Object.keys(fleet.closed).length > 0
    if (!state.faulty && !parked && !isOver(state)) throw new Error('at rest, without a fault, and not done')
    let current = state
    for (let round = 0; !isOver(current); round += 1) {
      if (round === RECOVERIES_MAX) throw new Error(`the work does not end: ${JSON.stringify(current.iterations)}`)
      current = await recovered({ ...current, now: current.now + EXPIRY_MS })
    }
  }

  /** Every due item is swept, and all that follows from it goes on, one after the other. */
  async function recovered(state: State): Promise<State> {
    let current = state
    const keys = [...state.table.values()].map(({ plain }) => plain as { dueAt?: number; pk: string; sk: string })
    for (const { dueAt, pk, sk } of keys) {
      if (dueAt === undefined || dueAt > state.now || sk === 'RUN') continue
      current = withActor(current, await actor(`sweeper of ${pk} ${sk}`, sweep({ pk, sk }), current.now))
      for (let [step] = await ordinary(current); step; [step] = await ordinary(current)) current = step.to
    }
    return current
  }

  return { first, keyOf: textOf, stepsFrom }
}

/** What each program writes last before the hand-over with which it ends. */
const BEFORE_HAND_OVER: Readonly<Record<string, RegExp>> = {
  worker: /^Update REVIEW.*#result = /,
  admit: /^Put WAITING/,
  limits: /^Update FLEET SET #limits/,
}

/**
 * A round of a hand-over, but the first one, forgets all before it, unless it has found a void place or its write was
 * refused. Those with which a program ends are one: what it did before makes no difference any more, once its release is
 * written. `program.ts` tries whether that is true.
 */
function forgetsOf(name: string): (past: readonly Past[], asks: string) => boolean {
  const [kind = ''] = name.split(' ')
  const begins = BEFORE_HAND_OVER[kind]
  return (past, asks) => {
    if (!begins || asks !== GET_FLEET) return false
    const began = past.findLastIndex(({ label }) => begins.test(label))
    const since = past.slice(began + 1)
    const rounds = since.filter(({ label }) => label === GET_FLEET).length
    const round = past.slice(past.findLastIndex(({ label }) => label === GET_FLEET) + 1)
    const refused = round.some(({ label, answer }) => label.startsWith('Update') && !answer.startsWith('done'))
    const released = since.some(({ label, answer }) => label.startsWith('Update FLEET') && answer.startsWith('done'))
    return began >= 0 && rounds > 0 && !refused && (kind !== 'worker' || released)
  }
}

/**
 * True if what an actor asks next is nobody else's business, now or later: then it doesn't matter when it is answered, and
 * only one order is tried.
 */
function isAlone(state: State, { name, review, stand }: Actor): boolean {
  if (stand.asks?.kind !== 'table') return false
  const { operation, input } = stand.asks.request as TableRequest
  if (state.atomic === 'write' && (operation === 'Get' || operation === 'Query')) return true
  const { pk, sk } = (input.Key ?? input.Item ?? {}) as { pk?: string; sk?: string }
  if (sk === 'HALT') return true // nobody sets one
  if (review === undefined || keyText({ pk, sk }) !== REVIEWS[review]) return false
  return name.startsWith('admit') && itemOf(state, review) === undefined // nobody else knows of it yet
}

function named(name: string, members: object): Error {
  return Object.assign(new Error(name), { name, ...members })
}

const tableIds = new Map<string, number>()
const idOfTable = new WeakMap<Snapshot, number>()

/** Items know their keys, so that their numbers tell tables apart. */
function tableIdOf(table: Snapshot): number {
  const known = idOfTable.get(table)
  if (known !== undefined) return known
  let text = ''
  // By whom a slot was granted changes nothing; when something is due does.
  for (const { seen, plain } of table.values()) text += `${seen.id} ${plain.dueAt ?? ''} `
  const id = tableIds.get(text) ?? tableIds.size
  tableIds.set(text, id)
  idOfTable.set(table, id)
  return id
}

function textOf({ table, now, iterations, actors, left, faulty }: State): string {
  const id = tableIdOf(table)
  const works = iterations.map(({ turn, phase, epoch, tries, seen }) => `${turn}${phase[0]}${epoch}.${tries}.${seen}`)
  const stands = actors.map(({ stand }) => stand.id).toSorted((a, b) => a - b)
  return `${id}|${now - BEGIN}|${works}|${stands}|${Object.values(left)}|${faulty}`
}

export function fleetOf(table: Snapshot): Fleet {
  return table.get(FLEET)?.plain as unknown as Fleet
}

const FLEET = keyText(keyOf.fleet())
const GET_FLEET = 'Get FLEET '
const REVIEWS = REVIEW_NUMBERS.map((review) => keyText(keyOf.review(nameOf(review))))

function reviewOf(table: Snapshot, review: number): Review | undefined {
  return table.get(REVIEWS[review] ?? '')?.plain as unknown as Review | undefined
}

function itemOf({ table }: State, review: number): number | undefined {
  return table.get(REVIEWS[review] ?? '')?.id
}

function ticketsOf(table: Snapshot): Ticket[] {
  return [...table].flatMap(([key, { plain }]) => (key.startsWith('QUEUE#') ? [plain as unknown as Ticket] : []))
}

/** Its lens may take as long as it likes. */
function isAtItsLens({ name, stand }: Actor): boolean {
  return name.startsWith('worker') && /^Update REVIEW.*#result = /.test(stand.asks?.label ?? '')
}

/** Where lenses work and nobody else does anything, no allowed ticket waits for a place that is free. */
function checkNobodyIdle({ table, now }: State): void {
  const fleet = fleetOf(table)
  const idle = ticketsOf(table).filter(
    (ticket) => freePlaces(fleet) > 0 && !fleet.slots[ticket.reviewId] && isAllowed(fleet, ticket, now),
  )
  if (idle.length > 0) throw new Error('I1: a place is idle while an allowed ticket waits')
}

/** Every review is completed and told, nothing is left of it in the fleet, and every pool is open. */
function isOver({ table, iterations }: State): boolean {
  const completed = iterations.every(
    ({ phase }, review) => phase === 'done' && reviewOf(table, review)?.state === 'completed',
  )
  const { slots, closed } = fleetOf(table)
  return completed && Object.keys(slots).length + Object.keys(closed).length === 0
}

/** What must hold of every change of the table (DESIGN §12). */
function checkGrants({ table: before, iterations, now }: State, after: Snapshot): void {
  if (before === after) return
  const [was, is] = [fleetOf(before), fleetOf(after)]
  const granted = was === is ? [] : Object.entries(is.slots).filter(([id, { epoch }]) => was.slots[id]?.epoch !== epoch)
  if (granted.length > 0) {
    const held = Object.values(is.slots)
    const { limits } = is
    if (held.length > effectiveOf(limits).effective) throw new Error('I1: more slots than are effective')
    for (const [reviewId, { pool, repository, epoch }] of granted) {
      if (held.filter((slot) => slot.pool === pool).length > effectiveOfPool(limits, pool).effective)
        throw new Error(`I1: more slots than the pool ${pool} may have`)
      if (held.filter((slot) => slot.repository === repository).length > effectiveOfRepository(limits).effective)
        throw new Error(`I1: more slots than the repository ${repository} may have`)
      const closing = is.closed[pool]
      if (
        closing &&
        (closing.probe?.reviewId !== reviewId || closing.probe.epoch !== epoch || closing.until > now + EXPIRY_MS)
      )
        throw new Error(`a grant in the closed pool ${pool} that is no probe`)
      const probes = held.filter(
        (slot) => slot.pool === pool && slot.since >= (closing?.until ?? Number.POSITIVE_INFINITY),
      )
      if (probes.length > 1) throw new Error(`two probes of the pool ${pool}`)
    }
  }
  for (const review of iterations.keys()) checkReview(review, reviewOf(before, review), reviewOf(after, review), is)
}

function checkReview(review: number, was: Review | undefined, is: Review | undefined, fleet: Fleet): void {
  if (!is) return
  const works = is.state === 'granted' || is.state === 'leased'
  if (works && fleet.slots[reviewIdOf(is)]?.epoch !== is.epoch)
    throw new Error(`I1: review ${review} is ${is.state} at epoch ${is.epoch} without a slot`)
  if (was === is || is.state !== 'completed') return
  if (was?.state === 'completed') return
  if (was?.state !== 'leased' || was.owner !== is.owner || was.epoch !== is.epoch)
    throw new Error(`I2: review ${review} is completed by one who doesn't hold it`)
}
