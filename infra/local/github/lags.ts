/** Reads that lag behind writes, as from a replica: all of them, or those of a route, from when it is ordered until it ends. */
import type { Layer, Route } from './http.ts'
import { type InjectionRule, InjectionRules } from './injection-rules.ts'
import { LAG_MS_MAX } from './store/history.ts'

/** `times`: all reads, if absent. */
export interface Lag extends InjectionRule {
  /** What is read is the state of so long ago, also of what was written before this was ordered: what wasn't there then is a 404. */
  lagMs: number
}

/** A lag that was ordered. */
export interface InjectedLag {
  /** How many reads have lagged so far. */
  readonly struck: number
  /** Reads are current again, or as far behind as all are. */
  end(): void
}

export interface Lags {
  layer: Layer
  /** Throws `unknown_route`, and `lag_too_long` beyond `LAG_MS_MAX`. */
  inject(lag: Lag): InjectedLag
  /** Ends every one that was ordered. */
  heal(): void
}

/** `lagMs` is what holds for reads that nothing was ordered for. */
export function createLags(routes: readonly Route[], lagMs: number): Lags {
  checkLength(lagMs)
  const reads = new InjectionRules<Lag>(
    routes.filter(({ method }) => method === 'GET'),
    Number.POSITIVE_INFINITY,
  )
  return {
    layer: (call, next) =>
      call.method === 'GET' ? next({ ...call, lagMs: reads.match(call)?.rule.lagMs ?? lagMs }) : next(call),
    inject(lag) {
      checkLength(lag.lagMs)
      return reads.add(lag)
    },
    heal: () => reads.heal(),
  }
}

function checkLength(lagMs: number): void {
  if (lagMs >= 0 && lagMs <= LAG_MS_MAX) return
  throw new Error(`lag_too_long: ${lagMs} ms. No more than ${LAG_MS_MAX} ms of the past are kept.`)
}
