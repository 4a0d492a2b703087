/** Reads that lag behind writes, as from a replica: all of them, or those of a route, from when it is ordered until it ends. */
import type { Layer, Route } from './http.ts'
import { type RouteOrder, RouteOrders } from './orders.ts'
import { LAG_MS_MAX } from './store/past.ts'

/** `times`: all reads, if absent. */
export interface Lag extends RouteOrder {
  /** What is read is the state of so long ago, also of what was written before this was ordered: what wasn't there then is a 404. */
  lagMs: number
}

/** A lag that was ordered. */
export interface Lagging {
  /** How many reads have lagged so far. */
  readonly struck: number
  /** Reads are current again, or as far behind as all are. */
  end(): void
}

export interface Lags {
  layer: Layer
  /** Throws `unknown_route`, and `lag_too_long` beyond `LAG_MS_MAX`. */
  order(lag: Lag): Lagging
  /** Ends every one that was ordered. */
  end(): void
}

/** `lagMs` is what holds for reads that nothing was ordered for. */
export function createLags(routes: readonly Route[], lagMs: number): Lags {
  checkLength(lagMs)
  const reads = new RouteOrders<Lag>(
    routes.filter(({ method }) => method === 'GET'),
    Number.POSITIVE_INFINITY,
  )
  return {
    layer: (call, next) =>
      call.method === 'GET' ? next({ ...call, lagMs: reads.turnOf(call)?.order.lagMs ?? lagMs }) : next(call),
    order(lag) {
      checkLength(lag.lagMs)
      const ordered = reads.add(lag)
      return {
        get struck() {
          return ordered.struck
        },
        end: () => {
          ordered.ended = true
        },
      }
    },
    end() {
      for (const ordered of reads.all()) ordered.ended = true
    },
  }
}

function checkLength(lagMs: number): void {
  if (lagMs >= 0 && lagMs <= LAG_MS_MAX) return
  throw new Error(`lag_too_long: ${lagMs} ms. No more than ${LAG_MS_MAX} ms of the past are kept.`)
}
