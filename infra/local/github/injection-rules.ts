/**
 * The rules by which a test injects faults and lags into a route: into the next requests, or some of them. The first
 * rule whose turn has come applies.
 */
import type { Call, Route } from './http.ts'

export interface InjectionRule {
  /**
   * In GitHub's notation, e.g. `POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews`, with any names in braces; `*`
   * is every route.
   */
  route: string
  /** The number of requests that the rule applies to. */
  times?: number
  /** The number of requests to the route before the first application; 0 if absent. */
  after?: number
}

export interface ActiveRule<Rule extends InjectionRule> {
  readonly rule: Rule
  /** The number of applications until now. */
  struck: number
  passed: number
  ended: boolean
  end(): void
}

export class InjectionRules<Rule extends InjectionRule> {
  readonly #known: ReadonlySet<string>
  readonly #timesIfAbsent: number
  readonly #rules: ActiveRule<Rule>[] = []

  constructor(routes: readonly Route[], timesIfAbsent: number) {
    this.#known = new Set(routes.map(({ method, pattern }) => shapeOf(`${method} ${pattern}`)))
    this.#timesIfAbsent = timesIfAbsent
  }

  /** Throws `unknown_route` for a route that the stand-in doesn't have: the rule would never apply. */
  add(rule: Rule): ActiveRule<Rule> {
    if (rule.route !== '*' && !this.#known.has(shapeOf(rule.route))) {
      throw new Error(
        `unknown_route: nothing here answers ${rule.route}. Write the route as GitHub does, with {names} for its parameters.`,
      )
    }
    const active: ActiveRule<Rule> = {
      rule,
      struck: 0,
      passed: 0,
      ended: false,
      end() {
        active.ended = true
      },
    }
    this.#rules.push(active)
    return active
  }

  /**
   * The rule that applies to this call, with the application counted; earlier rules that let the call pass count the
   * pass.
   */
  match(call: Call): ActiveRule<Rule> | undefined {
    if (call.route === null || this.#rules.length === 0) return undefined
    const shape = shapeOf(`${call.method} ${call.route}`)
    for (const active of this.#rules) {
      const { route, after = 0 } = active.rule
      if (active.ended || active.struck >= this.timesOf(active)) continue
      if (route !== '*' && shapeOf(route) !== shape) continue
      if (active.passed >= after) {
        active.struck += 1
        return active
      }
      active.passed += 1
    }
    return undefined
  }

  timesOf({ rule }: ActiveRule<Rule>): number {
    return rule.times ?? this.#timesIfAbsent
  }

  heal(): void {
    for (const active of this.#rules) active.end()
  }

  all(): readonly ActiveRule<Rule>[] {
    return this.#rules
  }
}

/** The same for `{pull_number}`, `:number` and `*path`. */
function shapeOf(route: string): string {
  return route.replaceAll(/\{[^}]*\}|[:*]\w+/g, '{}')
}
