/** Reads that lag behind writes, as from a replica: all reads, or the reads of a route, from injection to end. */
import type { Layer, Route } from './http.ts'
import { type InjectionRule, InjectionRules } from './injection-rules.ts'
import { LAG_MS_MAX } from './store/history.ts'

/** `times`: all reads, if absent. */
export interface Lag extends InjectionRule {
  /**
   * The age of the state that reads show, also for writes before the injection: a record younger than the lag is a 404.
   */
  lagMs: number
}

/** A lag after its injection. */
export interface InjectedLag {
  /** The number of lagging reads until now. */
  readonly struck: number
  /** Ends the lag: reads are current again, or lag as all others. */
  end(): void
}

export interface Lags {
  layer: Layer
  /** Throws `unknown_route`, and `lag_too_long` beyond `LAG_MS_MAX`. */
  inject(lag: Lag): InjectedLag
  /** Ends every injected lag. */
  heal(): void
}

/** `lagMs` is the lag of all reads without an injected lag. */
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
