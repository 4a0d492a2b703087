/** What a test orders for a route: for the next requests to it, or some of them. The first order whose turn it is applies. */
import type { Call, Route } from './http.ts'

export interface RouteOrder {
  /** As GitHub writes it, e.g. `POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews`, whatever the names in braces; `*` is every route. */
  route: string
  /** How many requests it applies to. */
  times?: number
  /** How many requests to the route pass it by before; 0 if absent. */
  after?: number
}

export interface Ordered<Order extends RouteOrder> {
  readonly order: Order
  /** How many requests it has applied to so far. */
  struck: number
  passed: number
  ended: boolean
}

export class RouteOrders<Order extends RouteOrder> {
  readonly #known: ReadonlySet<string>
  readonly #timesIfAbsent: number
  readonly #orders: Ordered<Order>[] = []

  constructor(routes: readonly Route[], timesIfAbsent: number) {
    this.#known = new Set(routes.map(({ method, pattern }) => shapeOf(`${method} ${pattern}`)))
    this.#timesIfAbsent = timesIfAbsent
  }

  /** Throws `unknown_route` for a route that the stand-in hasn't got: it would never apply. */
  add(order: Order): Ordered<Order> {
    if (order.route !== '*' && !this.#known.has(shapeOf(order.route))) {
      throw new Error(
        `unknown_route: nothing here answers ${order.route}. Write it as GitHub does, with {names} for what varies.`,
      )
    }
    const ordered = { order, struck: 0, passed: 0, ended: false }
    this.#orders.push(ordered)
    return ordered
  }

  /** The order that applies to this call, which counts as struck; those before it that let this one pass count it. */
  turnOf(call: Call): Ordered<Order> | undefined {
    if (call.route === null || this.#orders.length === 0) return undefined
    const shape = shapeOf(`${call.method} ${call.route}`)
    for (const ordered of this.#orders) {
      const { route, after = 0 } = ordered.order
      if (ordered.ended || ordered.struck >= this.timesOf(ordered)) continue
      if (route !== '*' && shapeOf(route) !== shape) continue
      if (ordered.passed >= after) {
        ordered.struck += 1
        return ordered
      }
      ordered.passed += 1
    }
    return undefined
  }

  timesOf({ order }: Ordered<Order>): number {
    return order.times ?? this.#timesIfAbsent
  }

  all(): readonly Ordered<Order>[] {
    return this.#orders
  }
}

/** The same for `{pull_number}`, `:number` and `*path`. */
function shapeOf(route: string): string {
  return route.replaceAll(/\{[^}]*\}|[:*]\w+/g, '{}')
}
