/** GitHub seconds after a webhook: the API may not know yet what the webhook has told. */
import { isFailure, Retry } from '../base/errors.ts'
import { GITHUB_UNREACHABLE_MS, HEAD_VISIBLE_WITHIN_MS } from '../base/limits.ts'
import type { GitHub } from './github.ts'

/**
 * GitHub with Retry `head_not_visible` in place of "not found" until `acceptedAt` + HEAD_VISIBLE_WITHIN_MS (ms UTC);
 * "not found" stands from then on. The failed call did nothing, so a write may be asked again.
 */
export function whileNew(github: GitHub, { acceptedAt }: { readonly acceptedAt: number }, now: () => number): GitHub {
  const calls = Object.entries(github).map(([name, call]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await (call as (...args: unknown[]) => Promise<unknown>)(...args)
      } catch (error) {
        const isNew = now() - acceptedAt < HEAD_VISIBLE_WITHIN_MS
        if (!isNew || !isFailure(error, 'dead') || error.code !== 'github_not_found') throw error
        throw new Retry('head_not_visible', `The event is new, and ${error.message}`, GITHUB_UNREACHABLE_MS, {
          cause: error,
        })
      }
    },
  ])
  // The calls of `github` by their names, each with its own arguments and result.
  return Object.fromEntries(calls) as unknown as GitHub
}
