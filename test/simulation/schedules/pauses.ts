/** Processes that are stopped at a chosen place, requests that are kept on their way, and when each of them goes on. */
import type { RoomName } from '../../../infra/rooms.ts'
import type { Failpoint } from '../../../shared/base/failpoints.ts'
import type { Container } from '../kernel/container.ts'
import type { Fate, Sent } from '../kernel/faults.ts'
import type { WireRequest } from '../services/service.ts'
import type { World } from '../world.ts'
import type { RequestMatch } from './requests.ts'

/** Where somebody is stopped: the first process of the room that comes there. */
export type Where = { readonly room: RoomName } & (
  | { readonly at: Failpoint }
  /** It has decided to ask, and the request has not left. */
  | { readonly before: RequestMatch }
  /** The request took its effect, and the answer is not heard. */
  | { readonly after: RequestMatch }
)

/** A process that stands still: its clock's timers too, as if it were not given the processor any more. */
export interface Paused {
  /** Runs the world until somebody stands there; throws if nobody comes within so much of its time, ms. */
  reached(withinMs?: number): Promise<void>
  /** It goes on, and with it the request that it was stopped before. */
  resume(): void
  /** It dies where it stands. A request that it was stopped before stays on its way until it is let go. */
  kill(): void
  /** The request that it was stopped before goes on, whatever becomes of the process. */
  land(): void
}

/** A request that stays on its way while its sender goes on: it waits, or gives up by its own deadline. */
export type Held = Pick<Paused, 'reached' | 'land'>

export interface Pauses {
  pauseAt(where: Where): Paused
  hold(room: RoomName, request: RequestMatch): Held
  /** How the world asks, at each request that is sent, each one that took its effect, and each point. */
  fateOf(sent: Sent, fate: Fate): Fate
  answered(request: WireRequest): void
  at(container: Container, point: Failpoint): Promise<void> | undefined
}

interface Order {
  readonly where: Where
  /** False for a request that is held while its sender goes on. */
  readonly stops: boolean
  container?: Container
  /** The request whose answer it is stopped before. */
  request?: WireRequest
  isReached: boolean
  goOn: (() => void) | undefined
}

/** ms of the world's time: longer than every wait that has an end of its own. */
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
