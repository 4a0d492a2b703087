/**
 * What the App may do where it is installed, and what each route asks for. The routes' needs are those of
 * docs.github.com, "Permissions required for GitHub Apps".
 */
import { type Call, Refusal } from './http.ts'
import type { Repository } from './records.ts'

export type PermissionName = 'checks' | 'contents' | 'issues' | 'metadata' | 'pull_requests'

/** What isn't named isn't granted. */
export type AppPermissions = Partial<Record<PermissionName, 'read' | 'write'>>

/** What Muster's App asks for when it is installed. */
export const ASKED_PERMISSIONS: AppPermissions = {
  checks: 'write',
  contents: 'read',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
}

/** By what follows `/repos/:owner/:repo`, the first that fits. Any one permission of a row is enough. */
const NEEDED: readonly (readonly [start: RegExp, permissions: readonly PermissionName[]])[] = [
  [/^\/check-runs\b|^\/commits\/\*ref\/check-runs$/, ['checks']],
  [/^\/(?:contents|git|compare|commits)\b/, ['contents']],
  [/^\/pulls\b/, ['pull_requests']],
  // A pull request is an issue too: its comments and labels are there with either permission.
  [/^\/issues\b/, ['issues', 'pull_requests']],
  [/^/, ['metadata']],
]

/**
 * Throws GitHub's 403 if the App was not given what the call's route needs. What is public can be read without any
 * permission. `x-accepted-github-permissions` names what would have been enough, as GitHub does.
 */
export function checkPermission(call: Call, repository: Repository, granted: AppPermissions): void {
  if (call.method === 'GET' && !repository.private) return
  const rest = (call.route ?? '').replace(/^\/repos\/:owner\/:repo/, '')
  const needed = NEEDED.find(([start]) => start.test(rest))?.[1] ?? []
  const level = call.method === 'GET' ? 'read' : 'write'
  if (needed.some((name) => granted[name] === 'write' || granted[name] === level)) return
  const accepted = needed.map((name) => `${name}=${level}`).join('; ')
  throw notAccessible({ 'x-accepted-github-permissions': accepted })
}

export function notAccessible(headers: Record<string, string> = {}): Refusal {
  return new Refusal(403, 'Resource not accessible by integration', undefined, headers)
}
