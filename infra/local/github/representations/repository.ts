/** A repository and its contents, as GitHub's API writes them. */
import type { components } from '@octokit/openapi-webhooks-types'
import type { Change, Commit, TreeEntry } from '../git/git.ts'
import { nodeId } from '../identity.ts'
import { fullName, type Repository } from '../records.ts'
import { iso } from '../time.ts'
import { type Schemas, userJson } from './account.ts'

/** The addresses of a repository, most of which the stand-in doesn't serve. */
const LINKS = {
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
} as const

/** Characters of a base64 line, as GitHub breaks content. */
const BASE64_LINE_CHARACTERS = 60

export function repositoryUrl(url: string, repository: Repository): string {
  return `${url}/repos/${fullName(repository)}`
}

export function htmlUrl(url: string, repository: Repository): string {
  return `${url}/${fullName(repository)}`
}

export function repositoryJson(url: string, repository: Repository) {
  const api = repositoryUrl(url, repository)
  const html = htmlUrl(url, repository)
  const createdAt = iso(repository.createdAt)
  const links = Object.fromEntries(Object.entries(LINKS).map(([name, path]) => [name, `${api}${path}`]))
  return {
    ...(links as Record<keyof typeof LINKS, string>),
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: fullName(repository),
    owner: userJson(url, { login: repository.owner, type: 'Organization' }),
    private: repository.private,
    visibility: repository.private ? ('private' as const) : ('public' as const),
    html_url: html,
    description: null,
    fork: false,
    url: api,
    git_url: `${html}.git`,
    ssh_url: `${html}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    mirror_url: null,
    homepage: null,
    language: null,
    forks_count: 0,
    forks: 0,
    stargazers_count: 0,
    watchers_count: 0,
    watchers: 0,
    size: 0,
    default_branch: repository.defaultBranch,
    open_issues_count: 0,
    open_issues: 0,
    is_template: false,
    topics: [],
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: false,
    has_discussions: false,
    archived: false,
    disabled: false,
    license: null,
    web_commit_signoff_required: false,
    custom_properties: {},
    created_at: createdAt,
    updated_at: createdAt,
    pushed_at: createdAt,
  } satisfies Schemas['repository'] & Pick<components['schemas']['repository-webhooks'], 'custom_properties'>
}

/** A changed file; `patch` is undefined where GitHub leaves it out. */
export function diffEntryJson(url: string, repository: Repository, headSha: string, change: Change, patch?: string) {
  const path = encodePath(change.path)
  return {
    sha: change.status === 'removed' ? change.oldSha : change.newSha,
    filename: change.path,
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    blob_url: `${htmlUrl(url, repository)}/blob/${headSha}/${path}`,
    raw_url: `${htmlUrl(url, repository)}/raw/${headSha}/${path}`,
    contents_url: `${repositoryUrl(url, repository)}/contents/${path}?ref=${headSha}`,
    ...(change.previousPath === null ? {} : { previous_filename: change.previousPath }),
    ...(patch === undefined ? {} : { patch }),
  } satisfies Schemas['diff-entry']
}

/** A commit in a comparison. Authors have a name and an address only, because no author has an account here. */
export function commitJson(url: string, repository: Repository, commit: Commit) {
  const { sha, treeSha, parents, ...written } = commit
  const api = repositoryUrl(url, repository)
  const html = htmlUrl(url, repository)
  return {
    sha,
    node_id: nodeId('Commit', sha),
    url: `${api}/commits/${sha}`,
    html_url: `${html}/commit/${sha}`,
    comments_url: `${api}/commits/${sha}/comments`,
    commit: {
      ...written,
      url: `${api}/git/commits/${sha}`,
      tree: { sha: treeSha, url: `${api}/git/trees/${treeSha}` },
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    author: null,
    committer: null,
    parents: parents.map((parent) => ({
      sha: parent,
      url: `${api}/commits/${parent}`,
      html_url: `${html}/commit/${parent}`,
    })),
  } satisfies Schemas['commit']
}

/** An entry of `contents`, without its content. */
export function contentJson(url: string, repository: Repository, ref: string, entry: TreeEntry) {
  const path = encodePath(entry.path)
  const self = `${repositoryUrl(url, repository)}/contents/${path}?ref=${encodeURIComponent(ref)}`
  const folder = entry.type === 'tree'
  const git = `${repositoryUrl(url, repository)}/git/${folder ? 'trees' : 'blobs'}/${entry.sha}`
  const html = `${htmlUrl(url, repository)}/${folder ? 'tree' : 'blob'}/${ref}/${path}`
  return {
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.sha,
    size: entry.size ?? 0,
    url: self,
    html_url: html,
    git_url: git,
    download_url: folder ? null : `${htmlUrl(url, repository)}/raw/${ref}/${path}`,
    _links: { self, git, html },
  }
}

/** Base64 in lines, each with a line feed at its end, as GitHub sends content. */
export function base64Lines(bytes: Buffer): string {
  const text = bytes.toString('base64')
  let lines = ''
  for (let from = 0; from < text.length; from += BASE64_LINE_CHARACTERS) {
    lines += `${text.slice(from, from + BASE64_LINE_CHARACTERS)}\n`
  }
  return lines
}

export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
