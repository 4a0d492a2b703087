/** Processes stopped at a chosen point, requests kept on their way, and the moment at which each goes on. */
import type { RoomName } from '../../../infra/rooms.ts'
import type { Failpoint } from '../../../shared/base/failpoints.ts'
import type { Container } from '../kernel/container.ts'
import type { Fate, Sent } from '../kernel/faults.ts'
import type { WireRequest } from '../services/service.ts'
import type { World } from '../world.ts'
import type { RequestMatch } from './requests.ts'

/** The point at which the first process of the room is stopped. */
export type Where = { readonly room: RoomName } & (
  | { readonly at: Failpoint }
  /** The process has decided to ask; the request has not left. */
  | { readonly before: RequestMatch }
  /** The request took effect; the process has no answer yet. */
  | { readonly after: RequestMatch }
)

/** A process that stands still with the timers of its clock, as if without a processor. */
export interface Paused {
  /** Runs the world until a process has stopped at the point; throws after `withinMs` of the world's time. */
  reached(withinMs?: number): Promise<void>
  /** Lets the process go on, together with the request held back with the process. */
  resume(): void
  /** Ends the process at this point. The request held back with the process stays on its way until `land`. */
  kill(): void
  /** Lets the request held back with the process go on, even without the process. */
  land(): void
}

/** A request kept on its way while its sender goes on. The sender waits, or gives up by its own deadline. */
export type Held = Pick<Paused, 'reached' | 'land'>

export interface Pauses {
  pauseAt(where: Where): Paused
  hold(room: RoomName, request: RequestMatch): Held
  /** Asked by the world at each sent request, each effect of a request, and each failpoint. */
  fateOf(sent: Sent, fate: Fate): Fate
  answered(request: WireRequest): void
  at(container: Container, point: Failpoint): Promise<void> | undefined
}

interface Order {
  readonly where: Where
  /** False for a held request, whose sender goes on. */
  readonly stops: boolean
  container?: Container
  /** The request before whose answer the process is stopped. */
  request?: WireRequest
  isReached: boolean
  goOn: (() => void) | undefined
}

/** ms of the world's time: longer than every wait with an end of its own. */
const REACHED_WITHIN_MS = 15 * 60_000

export function openPauses(world: () => World): Pauses {
  const orders: Order[] = []

  function ordered(where: Where, stops: boolean): Paused {
    const order: Order = { where, stops, isReached: false, goOn: undefined }
    orders.push(order)
    const land = () => {
      order.goOn?.()
      order.goOn = undefined
    }
    const standing = (): Container => {
      if (!order.isReached || !order.container) throw new Error(`Nobody stands at ${placeOf(where)}.`)
      return order.container
    }
    return {
      async reached(withinMs = REACHED_WITHIN_MS) {
        const { timeline } = world()
        if (await timeline.run(timeline.now + withinMs, () => order.isReached)) return
        throw new Error(`Nobody came to ${placeOf(where)} within ${withinMs} ms.`)
      },
      resume() {
        world().timeline.thaw(standing().actor)
        land()
      },
      kill() {
        world().functions.kill(standing().actor)
        if ('at' in where) order.goOn = undefined
      },
      land,
    }
  }

  function stop(order: Order, container: Container): void {
    order.isReached = true
    order.container = container
    const { timeline, trace } = world()
    trace.add(timeline.now, container.actor.name, order.stops ? 'stands still' : 'has sent what stays on its way')
    if (order.stops) container.actor.state = 'frozen'
  }

  return {
    pauseAt: (where) => ordered(where, true),
    hold: (room, request) => ordered({ room, before: request }, false),

    fateOf({ service, actor, request }, fate) {
      const container = [...world().functions.containers].find((each) => each.actor.name === actor)
      if (!container) return fate
      const order = orders.find(({ where, isReached, request: taken }) => {
        if (isReached || taken || where.room !== container.room || 'at' in where) return false
        return ('before' in where ? where.before : where.after)(service, request)
      })
      if (!order) return fate
      if ('after' in order.where) {
        order.request = request
        order.container = container
        return fate
      }
      stop(order, container)
      const held = (goOn: () => void) => {
        order.goOn = goOn
      }
      return { ...fate, held }
    },

    answered(request) {
      const order = orders.find((each) => each.request === request && !each.isReached)
      if (order?.container) stop(order, order.container)
    },

    at(container, point) {
      const order = orders.find(
        ({ where, isReached }) => !isReached && where.room === container.room && 'at' in where && where.at === point,
      )
      if (!order) return undefined
      stop(order, container)
      return new Promise((resolve) => {
        order.goOn = () => void world().timeline.after(0, container.actor, resolve)
      })
    },
  }
}

function placeOf(where: Where): string {
  return `${'at' in where ? where.at : 'a request'} in ${where.room}`
}
