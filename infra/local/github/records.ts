/** The records of the GitHub stand-in, stored as JSON. Times are milliseconds since 1970. */

export interface Account {
  login: string
  type: 'User' | 'Bot' | 'Organization'
}

export interface Repository {
  id: number
  owner: string
  name: string
  /** A bare repository, a work tree, or a worktree's `.git` file. Only ever read. */
  gitDirectory: string
  defaultBranch: string
  private: boolean
  createdAt: number
  /** The highest pull request number until now. */
  lastNumber: number
  /** A person's permission here, by lower-cased login; all other people get the default of `permissionOf`. */
  permissions: Record<string, Permission>
}

export type Permission = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none'

export interface Branch {
  ref: string
  sha: string
}

export interface PullRequest {
  id: number
  repositoryId: number
  number: number
  title: string
  body: string | null
  author: Account
  state: 'open' | 'closed'
  draft: boolean
  base: Branch
  head: Branch
  /** Every head of this pull request, oldest first; the last is `head.sha`. */
  heads: string[]
  labels: string[]
  createdAt: number
  updatedAt: number
  closedAt: number | null
  mergedAt: number | null
}

export type ReviewState = 'PENDING' | 'COMMENTED' | 'APPROVED' | 'CHANGES_REQUESTED'

export interface Review {
  id: number
  author: Account
  body: string
  state: ReviewState
  commitId: string
  submittedAt: number | null
}

export type Side = 'LEFT' | 'RIGHT'

export interface ReviewComment {
  id: number
  reviewId: number
  author: Account
  body: string
  path: string
  commitId: string
  line: number
  side: Side
  startLine: number | null
  startSide: Side | null
  /** Lines below the file's first hunk header. */
  position: number
  /** The hunk down to the commented line, as of the comment's head. */
  diffHunk: string
  createdAt: number
  updatedAt: number
}

export interface IssueComment {
  id: number
  /** Of its pull request. */
  number: number
  author: Account
  body: string
  createdAt: number
  updatedAt: number
}

export type CheckStatus = 'queued' | 'in_progress' | 'completed'
export type CheckConclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'

export interface Annotation {
  path: string
  start_line: number
  end_line: number
  start_column: number | null
  end_column: number | null
  annotation_level: 'notice' | 'warning' | 'failure'
  title: string | null
  message: string
  raw_details: string | null
}

export interface CheckRun {
  id: number
  repositoryId: number
  name: string
  headSha: string
  externalId: string | null
  detailsUrl: string | null
  status: CheckStatus
  conclusion: CheckConclusion | null
  startedAt: number | null
  completedAt: number | null
  title: string | null
  summary: string | null
  text: string | null
  annotations: Annotation[]
}

/** One attempt to deliver a webhook, with the sent bytes and the answer. */
export interface Delivery {
  /** Counts attempts; a redelivery is a new attempt with the same `guid`. */
  sequence: number
  /** `X-GitHub-Delivery`. */
  guid: string
  event: string
  action: string
  repository: string
  number: number
  redelivery: boolean
  /** The exact signed and sent bytes, as UTF-8 text. */
  payload: string
  recordedAt: number
  /** Null until an attempt has ended: not sent yet, under way, or cut off with this process. */
  result: DeliveryResult | null
}

export interface DeliveryResult {
  /** The endpoint's status; null without an answer within the deadline. */
  status: number | null
  /** `OK`, or the failure, for people. */
  reason: string
  durationMs: number
  responseBody: string
}

/** An installation token, stored as a digest: only its receiver knows the token itself. */
export interface Token {
  digest: string
  installationId: number
  expiresAt: number
}

/** The key of a pull request in the store; a repository's key is its id. */
export function pullKey(repositoryId: number, number: number): string {
  return `${repositoryId}#${number}`
}

/** Check runs belong to a commit, not to a pull request. */
export function commitKey(repositoryId: number, sha: string): string {
  return `${repositoryId}@${sha}`
}

export function fullName(repository: Repository): string {
  return `${repository.owner}/${repository.name}`
}
