/** People, bots, organisations and the App, as GitHub's API writes them. */
import type { components } from '@octokit/openapi-types'
import type { InstalledApp } from '../authentication.ts'
import { accountId, nodeId } from '../identity.ts'
import type { Account, PullRequest, Repository } from '../records.ts'
import { iso } from '../time.ts'

export type Schemas = components['schemas']

/** The App's subscribed events. */
const APP_EVENTS = ['issue_comment', 'pull_request']

/** The creation time of the App and its installations: a fixed instant, because nothing depends on it. */
const INSTALLED_AT_MS = Date.UTC(2026, 0, 1)

export function userJson(url: string, { login, type }: Account) {
  const id = accountId(login)
  const api = `${url}/users/${encodeURIComponent(login)}`
  return {
    login,
    id,
    node_id: nodeId('User', id),
    avatar_url: `${url}/avatars/${id}`,
    gravatar_id: '',
    url: api,
    html_url: `${url}/${encodeURIComponent(login)}`,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type,
    site_admin: false,
  } satisfies Schemas['simple-user']
}

/** An account at its own address; fields about the person are null. */
export function publicUserJson(url: string, account: Account) {
  return {
    ...userJson(url, account),
    name: null,
    company: null,
    blog: null,
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: iso(INSTALLED_AT_MS),
    updated_at: iso(INSTALLED_AT_MS),
  } satisfies Schemas['public-user']
}

/** An author's association with a repository; no author here is a member of an organisation. */
export function associationOf(repository: Repository, author: Account, pull?: PullRequest) {
  const login = author.login.toLowerCase()
  if (login === repository.owner.toLowerCase()) return 'OWNER'
  if (repository.permissions[login] !== undefined) return 'COLLABORATOR'
  return pull?.author.login.toLowerCase() === login ? 'CONTRIBUTOR' : 'NONE'
}

export function appJson(url: string, app: InstalledApp) {
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    owner: userJson(url, { login: app.slug, type: 'Organization' }),
    name: app.slug,
    description: null,
    external_url: url,
    html_url: `${url}/apps/${app.slug}`,
    created_at: iso(INSTALLED_AT_MS),
    updated_at: iso(INSTALLED_AT_MS),
    permissions: app.permissions,
    events: APP_EVENTS,
  } satisfies Schemas['integration']
}

export function tokenJson(app: InstalledApp, token: string, expiresAt: number) {
  return {
    token,
    expires_at: iso(expiresAt),
    permissions: app.permissions,
    repository_selection: 'all',
  } satisfies Schemas['installation-token']
}
