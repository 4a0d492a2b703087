/** The small world: a table, programs at work, and the calls of Step Functions; its steps and its invariants. */
import { effectiveOf, effectiveOfPool, effectiveOfRepository } from '../../shared/fleet/ceiling.ts'
import type { LostWorker } from '../../shared/fleet/lease.ts'
import { FLEET_AT_REST, type Fleet, freeSlots, isAllowed, type Ticket } from '../../shared/fleet/schedule.ts'
import { keyOf } from '../../shared/ledger/table.ts'
import { type Review, reviewIdOf } from '../../shared/runs/review.ts'
import type { Step } from './explore.ts'
import { admit, BEGIN, limit, nameOf, type Planned, REVIEW_NUMBERS, runItem, sweep, tokenOf, work } from './fleet.ts'
import { begin, type Code, type Stand } from './program.ts'
import { remembersOf } from './remembers.ts'
import { keyText, perform, type Snapshot, storedOf, type TableRequest } from './snapshot.ts'

export interface Scenario {
  readonly reviews: readonly Planned[]
  readonly limits: object
  /** Changes of limits, each at any moment. */
  readonly changes?: readonly object[]
  /** The number of processes that may die, each at any moment. Lambda names the dead worker, or says nothing. */
  readonly crashes?: number
  /** The number of live workers that Lambda may call dead at any moment. */
  readonly lies?: number
  /**
   * The number of the sweeper's looks at any due item, at any moment: on time (`sweeps`), and when every lease has
   * ended (`expiries`).
   */
  readonly sweeps?: number
  readonly expiries?: number
  /**
   * The late programs at the end of leases. `one`: only programs of one review are late, at any point, and the sweeper
   * looks at the same review; all remaining programs have ended, or wait for their lenses. Absent: any program is late,
   * and the sweeper looks at any item.
   */
  readonly late?: 'one'
  /** The unit that no other program interrupts: one request, or one write with all reads after the write. */
  readonly atomic?: 'request' | 'write'
  /** Tries also states that differ only in the names of reviews. */
  readonly unmerged?: boolean
  /** A mistake: replaces a program's request by a wrong one. */
  readonly mistaken?: (request: TableRequest) => TableRequest
}

/** The state of Step Functions for a review: a token that waits, a worker at work, or done. */
interface Iteration {
  readonly turn: number
  /** The number of reviews with an earlier turn. */
  readonly position: number
  readonly phase: 'coming' | 'admitting' | 'working' | 'held' | 'done'
  readonly epoch: number
  /** Invocations of the worker, each with an owner of its own. */
  readonly tries: number
  /** Lambda's message about the last crashed worker. */
  readonly lost?: LostWorker
  /** The review's item while another worker holds the lease: the next try comes when the item has changed. */
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
  readonly left: { readonly crashes: number; readonly lies: number; readonly sweeps: number; readonly expiries: number }
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
  const isOneLate = scenario.late === 'one'
  const fleetItem = { ...keyOf.fleet(), ...FLEET_AT_REST, version: 1, limits: scenario.limits }
  const run = runItem()
  const table: Snapshot = new Map(
    [fleetItem, run].map((item) => [keyText(item), storedOf(item)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  const spawn = async (name: string, code: Code, now: number, more: Partial<Actor> = {}): Promise<Actor> => ({
    name,
    ...more,
    stand: await begin({ name, code, remembers: remembersOf(name) }, now),
  })
  // Equal programs share their stands, whichever state begins the program.
  const begun = new Map<string, Promise<Actor>>()
  const actor = (name: string, code: Code, now: number, more: Partial<Actor> = {}): Promise<Actor> => {
    const known = begun.get(`${name} ${now}`) ?? spawn(name, code, now, more)
    begun.set(`${name} ${now}`, known)
    return known
  }
  const admitOf = (
    review: number,
    { turn, position, lost }: Pick<Iteration, 'turn' | 'position' | 'lost'>,
    now: number,
  ) => {
    const code = admit(reviews[review] ?? {}, review, turn, position, lost)
    return actor(`${admitName(review, turn)} at place ${position}${textOfLost(lost)}`, code, now, { review })
  }
  const workOf = (review: number, { epoch, tries }: Iteration, now: number) => {
    const name = workerName(review, { epoch, tries })
    return actor(name, work(reviews[review] ?? {}, review, epoch, name), now, { review })
  }

  const { crashes = 0, lies = 0, sweeps = 0, expiries = 0 } = scenario
  const first: State = {
    table,
    now: BEGIN,
    iterations: reviews.map(() => ({ turn: 0, position: -1, phase: 'coming', epoch: 0, tries: 0 })),
    actors: await Promise.all(changes.map((patch, index) => actor(`limits ${index}`, limit(patch), BEGIN))),
    left: { crashes, lies, sweeps, expiries },
    faulty: false,
    atomic: scenario.atomic ?? 'request',
  }

  const withIteration = (state: State, review: number, change: Partial<Iteration>): State => ({
    ...state,
    iterations: state.iterations.map((each, index) => (index === review ? { ...each, ...change } : each)),
  })
  const withActor = (state: State, added: Actor): State => ({ ...state, actors: [...state.actors, added] })

  async function admitAgain(state: State, review: number): Promise<State> {
    const iteration = state.iterations[review]
    if (!iteration) return state
    const turn = iteration.turn + 1
    const next = withIteration(state, review, { turn, phase: 'admitting', epoch: 0, tries: 0 })
    return withActor(next, await admitOf(review, { ...iteration, turn }, state.now))
  }

  /**
   * Lets the reviews come in every order of turns.
   * Symmetry: no two turns are equal, and names decide between equal turns only, so names decide nothing; programs only
   * compare names for equality, write names and read names. Take two orders that give the same turns to equally planned
   * reviews. Every history after the first order is a history after the second under other names, and no invariant
   * mentions a name. So the model tries one of such orders: equally planned reviews go in the order of their numbers.
   */
  async function comings(state: State): Promise<Step<State>[]> {
    const plans = reviews.map((each) => JSON.stringify(each))
    const isTried = (order: readonly number[]) =>
      order.every((review, at) => order.slice(at).every((later) => plans[later] !== plans[review] || later >= review))
    const orders = ordersOf([...reviews.keys()]).filter((order) => scenario.unmerged === true || isTried(order))
    const steps: Step<State>[] = []
    for (const order of orders) {
      let to = state
      for (const [position, review] of order.entries())
        to = await admitAgain(withIteration(to, review, { position }), review)
      steps.push({ label: `reviews come: ${order}`, to })
    }
    return steps
  }

  async function workAgain(state: State, review: number): Promise<State> {
    const { tries = 0 } = state.iterations[review] ?? {}
    const next = withIteration(state, review, { phase: 'working', tries: tries + 1 })
    const iteration = next.iterations[review]
    return iteration ? withActor(next, await workOf(review, iteration, state.now)) : next
  }

  /** Step Functions after the end or death of a called function. */
  async function afterEnd(state: State, { name, review }: Actor, ended: string): Promise<State> {
    const iteration = review === undefined ? undefined : state.iterations[review]
    if (review === undefined || !iteration) {
      if (ended.startsWith('threw')) throw new Error(`${name} ${ended}`)
      return state
    }
    if (name.startsWith('admit')) {
      const waits = iteration.phase === 'admitting' && name.startsWith(`${admitName(review, iteration.turn)} `)
      return waits && ended !== 'admitted' ? admitAgain(state, review) : state
    }
    // Step Functions ignores a replaced worker that was called dead.
    if (iteration.phase !== 'working' || name !== workerName(review, iteration)) return state
    if (ended === 'completed') return withIteration(state, review, { phase: 'done' })
    if (ended === 'stale') return admitAgain(state, review)
    if (ended === 'held') return withIteration(state, review, { phase: 'held', seen: itemOf(state, review) ?? -1 })
    throw new Error(`${name} ${ended}`)
  }

  /** Step Functions after Lambda has called a worker dead, with or without its name. */
  async function afterCrash(state: State, { name, review }: Actor, cause: string): Promise<State> {
    const iteration = review === undefined ? undefined : state.iterations[review]
    if (review === undefined || iteration?.phase !== 'working' || name !== workerName(review, iteration)) return state
    return admitAgain(withIteration(state, review, { lost: { epoch: iteration.epoch, cause } }), review)
  }

  async function answered(state: State, index: number): Promise<State> {
    const current = state.actors[index]
    const asks = current?.stand.asks
    if (!current || !asks) throw new Error('Expected an actor that waits')
    const { now } = state
    if (asks.kind === 'table') {
      const looksAtDue = current.name.startsWith('sweeper') && current.stand.isFirst
      const request = asks.request as TableRequest
      const { table: after, answer } = perform(state.table, scenario.mistaken?.(request) ?? request, looksAtDue)
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

  /** Steps without a fault. */
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
      if (!current.name.startsWith('worker')) {
        steps.push({ label: `${current.name} dies`, to: await afterEnd(dead, current, 'died') })
        continue
      }
      for (const cause of [current.name, '']) {
        const label = `${current.name} dies${cause ? '' : ', and Lambda does not say who'}`
        steps.push({ label, to: await afterCrash(dead, current, cause) })
      }
    }
    return steps
  }

  async function liesOf(state: State): Promise<Step<State>[]> {
    const lies = state.left.lies - 1
    if (lies < 0) return []
    const steps: Step<State>[] = []
    for (const current of state.actors.filter(({ name }) => name.startsWith('worker'))) {
      const lied = { ...state, left: { ...state.left, lies }, faulty: true }
      for (const cause of [current.name, '']) {
        const label = `${current.name} lives and is called dead${cause ? '' : ', but not by its name'}`
        steps.push({ label, to: await afterCrash(lied, current, cause) })
      }
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
        const { dueAt, pk, sk, until } = item.plain as { dueAt?: number; pk: string; sk: string; until?: number }
        if (dueAt === undefined || dueAt > state.now + ahead || sk === 'RUN') continue
        if (ahead === EXPIRY_MS && isOneLate && (until === undefined || !areOthersDone(state, REVIEWS.indexOf(text))))
          continue
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

  /** Answers all reads without effect on other programs: a death between such reads equals a death after them. */
  async function settled(state: State): Promise<State> {
    let current = state
    for (let at = readsAlone(current); at >= 0; at = readsAlone(current)) current = await answered(current, at)
    return current
  }

  async function stepsFrom(state: State): Promise<Step<State>[]> {
    const steps = await unsettledStepsFrom(state)
    const reached: Step<State>[] = []
    for (const { label, to } of steps) reached.push({ label, to: await settled(to) })
    return reached
  }

  async function unsettledStepsFrom(state: State): Promise<Step<State>[]> {
    if (state.iterations.some(({ phase }) => phase === 'coming')) return comings(state)
    const alone = state.actors.findIndex((each) => isAlone(state, each))
    if (alone >= 0) {
      const current = state.actors[alone]
      const step = { label: `${current?.name}: ${current?.stand.asks?.label}`, to: await answered(state, alone) }
      return [step, ...(current ? await deathsOf(state, [current]) : [])]
    }
    if (!state.faulty && state.actors.every(isAtItsLens)) checkNobodyIdle(state)
    const steps = await ordinary(state)
    if (steps.length === 0) await checkRest(state)
    steps.push(...(await deathsOf(state, state.actors)), ...(await liesOf(state)))
    const { sweeps, expiries } = state.left
    const aheads = [
      ...(sweeps > 0 ? [{ ahead: SWEEP_MS, left: { ...state.left, sweeps: sweeps - 1 } }] : []),
      ...(expiries > 0 ? [{ ahead: EXPIRY_MS, left: { ...state.left, expiries: expiries - 1 } }] : []),
    ]
    return [...steps, ...(await sweepsOf(state, aheads))]
  }

  /**
   * No program can continue alone. Without a fault all work must be done; after a fault the sweeper must complete the
   * work.
   */
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

  /** Sweeps every due item, and then runs all programs to their ends, one after the other. */
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

/**
 * True if the actor's next request affects no other program, now or later: the time of the answer doesn't matter, so
 * the model tries one order only.
 */
function isAlone(state: State, { name, review, stand }: Actor): boolean {
  if (stand.asks?.kind !== 'table') return false
  const { operation, input } = stand.asks.request as TableRequest
  if (state.atomic === 'write' && (operation === 'Get' || operation === 'Query')) return true
  const { pk, sk } = (input.Key ?? input.Item ?? {}) as { pk?: string; sk?: string }
  if (sk === 'HALT') return true // no program sets a halt
  if (review === undefined || keyText({ pk, sk }) !== REVIEWS[review]) return false
  return name.startsWith('admit') && itemOf(state, review) === undefined // no other program knows the review yet
}

/** Every order of the numbers. */
function ordersOf(numbers: readonly number[]): number[][] {
  if (numbers.length < 2) return [[...numbers]]
  return numbers.flatMap((first) => ordersOf(numbers.filter((each) => each !== first)).map((rest) => [first, ...rest]))
}

const textOfLost = (lost: LostWorker | undefined): string => (lost ? ` after ${lost.epoch} ${lost.cause}` : '')

const workerName = (review: number, { epoch, tries }: Pick<Iteration, 'epoch' | 'tries'>): string =>
  `worker ${review}.${epoch}.${tries}`

const admitName = (review: number, turn: number): string => `admit ${tokenOf(review, turn)}`

/** The index of an actor whose next read affects no other program; -1 if none. */
function readsAlone(state: State): number {
  return state.actors.findIndex((each) => isAlone(state, each) && /^(Get|Query) /.test(each.stand.asks?.label ?? ''))
}

function named(name: string, members: object): Error {
  return Object.assign(new Error(name), { name, ...members })
}

const tableIds = new Map<string, number>()
const idOfTable = new WeakMap<Snapshot, number>()

/** Items include their keys, so the items' numbers distinguish tables. */
function tableIdOf(table: Snapshot): number {
  const known = idOfTable.get(table)
  if (known !== undefined) return known
  let text = ''
  // The granter of a slot doesn't matter later; the due time of an item does.
  for (const { seen, plain } of table.values()) text += `${seen.id} ${plain.dueAt ?? ''} `
  const id = tableIds.get(text) ?? tableIds.size
  tableIds.set(text, id)
  idOfTable.set(table, id)
  return id
}

function textOf({ table, now, iterations, actors, left, faulty }: State): string {
  const id = tableIdOf(table)
  const works = iterations.map(
    ({ turn, position, phase, epoch, tries, seen, lost }) =>
      `${position}.${turn}${phase[0]}${epoch}.${tries}.${seen}${textOfLost(lost)}`,
  )
  const stands = actors.map(({ stand }) => stand.id).toSorted((a, b) => a - b)
  return `${id}|${now - BEGIN}|${works}|${stands}|${Object.values(left)}|${faulty}`
}

export function fleetOf(table: Snapshot): Fleet {
  return table.get(FLEET)?.plain as unknown as Fleet
}

const FLEET = keyText(keyOf.fleet())
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

/** A lens may take any time. */
function isAtItsLens({ name, stand }: Actor): boolean {
  return name.startsWith('worker') && /^Update REVIEW.*#result = /.test(stand.asks?.label ?? '')
}

function areOthersDone({ actors }: State, review: number): boolean {
  return actors.every((each) => each.review === review || isAtItsLens(each))
}

/** While lenses work and no other program is active, no allowed ticket waits for a free slot. */
function checkNobodyIdle({ table, now }: State): void {
  const fleet = fleetOf(table)
  const idle = ticketsOf(table).filter(
    (ticket) => freeSlots(fleet) > 0 && !fleet.slots[ticket.reviewId] && isAllowed(fleet, ticket, now),
  )
  if (idle.length > 0) throw new Error('I1: a place is idle while an allowed ticket waits')
}

/** Every review is completed and told, the fleet has no slot left, and every pool is open. */
function isOver({ table, iterations }: State): boolean {
  const completed = iterations.every(
    ({ phase }, review) => phase === 'done' && reviewOf(table, review)?.state === 'completed',
  )
  const { slots, closed } = fleetOf(table)
  return completed && Object.keys(slots).length + Object.keys(closed).length === 0
}

/** The invariants of every change of the table. */
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
