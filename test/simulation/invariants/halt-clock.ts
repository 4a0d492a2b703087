/** The time since when each halt stands, as the table shows. */
import type { Watch } from './invariant.ts'
import type { View } from './view.ts'

export interface HaltClock {
  readonly watch: Pick<Watch, 'halts'>
  /** How long a halt has stood for a repository, ms; undefined without a halt. */
  standingMs(repository: { readonly id: number; readonly installationId: number }): number | undefined
}

export function openHaltClock(view: View): HaltClock {
  /** By scope, ms UTC. */
  const since = new Map<string, number>()
  return {
    watch: {
      halts({ after }) {
        const scopes = Object.keys(after?.scopes ?? {})
        for (const scope of [...since.keys()]) if (!scopes.includes(scope)) since.delete(scope)
        for (const scope of scopes) if (!since.has(scope)) since.set(scope, view.now())
      },
    },
    standingMs({ id, installationId }) {
      if (since.size === 0) return undefined
      const scopes = ['fleet', `installation/${installationId}`, `repository/${id}`]
      const first = Math.min(...scopes.map((scope) => since.get(scope) ?? Number.POSITIVE_INFINITY))
      return first === Number.POSITIVE_INFINITY ? undefined : view.now() - first
    },
  }
}
