/**
 * The App's permissions in an installation, and the permissions that each route needs. The routes' needs follow
 * docs.github.com, "Permissions required for GitHub Apps".
 */
import { type Call, Refusal } from './http.ts'
import type { Repository } from './records.ts'

export type PermissionName = 'checks' | 'contents' | 'issues' | 'metadata' | 'pull_requests'

/** Unnamed permissions are not granted. */
export type AppPermissions = Partial<Record<PermissionName, 'read' | 'write'>>

/** The permissions that Muster's App requests. */
export const ASKED_PERMISSIONS: AppPermissions = {
  checks: 'write',
  contents: 'read',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
}

/** By the path after `/repos/:owner/:repo`, the first match. Any one permission of a row is enough. */
const NEEDED: readonly (readonly [start: RegExp, permissions: readonly PermissionName[]])[] = [
  [/^\/check-runs\b|^\/commits\/\*ref\/check-runs$/, ['checks']],
  [/^\/(?:contents|git|compare|commits)\b/, ['contents']],
  [/^\/pulls\b/, ['pull_requests']],
  // A pull request is an issue too: either permission gives access to its comments and labels.
  [/^\/issues\b/, ['issues', 'pull_requests']],
  [/^/, ['metadata']],
]

/**
 * Throws GitHub's 403 if the App lacks the permission of the call's route. Public data needs no permission for a read.
 * `x-accepted-github-permissions` names the sufficient permissions, as GitHub does.
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
