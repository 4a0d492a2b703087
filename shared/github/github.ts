/** GitHub for Muster, in plain types: a read is whole or says `cut`, and a write tells whether it happened. */
import type { FileChange } from '../findings/diff.ts'
import type { Annotation, CheckRunResource, InlineComment } from '../publishing/github-payloads.ts'

export interface Repo {
  readonly owner: string
  readonly name: string
}

export interface PullRequest {
  readonly number: number
  readonly title: string
  /** The description, or `''` (H18). */
  readonly body: string
  readonly draft: boolean
  readonly state: 'open' | 'closed'
  readonly merged: boolean
  readonly head: { readonly sha: string; readonly ref: string }
  readonly base: { readonly sha: string; readonly ref: string }
  readonly author: { readonly login: string; readonly type: string }
  /** ms UTC. GitHub's own resolution is a second. */
  readonly updatedAt: number
}

/** Rows of a list. `cut`: GitHub has more rows than were read; rows beyond are unknown, never absent. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly cut: boolean
}

/** A file at a commit. Only `absent` says that the file doesn't exist. */
export type TextAt =
  | { readonly state: 'text'; readonly text: string }
  | { readonly state: 'absent' }
  /** A directory, a submodule, a symbolic link, or bytes that are no UTF-8. */
  | { readonly state: 'not_text' }
  | { readonly state: 'too_large' }

export type Blob = { readonly state: 'bytes'; readonly bytes: Uint8Array } | { readonly state: 'too_large' }

/** Our identity at GitHub. `id` is the bot user's id, which outlives a rename (D12); `appId` is the App's. */
export interface Identity {
  readonly login: string
  readonly id: number
  readonly appId: number
}

export interface ReviewSeen {
  readonly id: number
  readonly state: 'PENDING' | 'COMMENTED' | 'APPROVED' | 'CHANGES_REQUESTED' | 'DISMISSED'
  readonly body: string
  readonly author: string
  readonly authorIsUs: boolean
  readonly commitId: string
}

export interface ReviewCommentSeen {
  readonly id: number
  readonly path: string
  /** Undefined for a comment on a file, and for a line that the newest diff lacks. */
  readonly line: number | undefined
  readonly body: string
}

export interface CommentSeen {
  readonly id: number
  readonly body: string
  readonly author: string
  readonly authorIsUs: boolean
}

export interface CheckRunSeen {
  readonly id: number
  readonly name: string
  readonly externalId: string
  readonly status: string
  readonly conclusion: string | undefined
  readonly title: string
  readonly summary: string
  readonly text: string
  readonly annotations: number
}

/** A change of a check run. At most 50 annotations; GitHub appends them to the annotations before (S1). */
export type CheckRunChange = Omit<CheckRunResource, 'kind' | 'head' | 'externalId'>

export interface NewReview {
  readonly commitId: string
  readonly body: string
  readonly comments: readonly InlineComment[]
}

/** A refusal of exactly this request (422), with GitHub's own sentence: the caller reads again and decides. */
export interface NotAccepted {
  readonly state: 'refused'
  readonly sentence: string
}

/**
 * GitHub for one installation of our App. A call has a deadline (GITHUB_CALL_MS); within it a read may be asked twice,
 * a write once (AW74). Failures, by `name` and `code` (shared/base/errors.ts):
 * - `retry` `github_throttled`: a limit; nothing happened; `afterMs` is GitHub's own time if GitHub names a time
 * - `retry` `github_unreachable`: no usable answer; `outcomeUnknown` is true for a write, which may have happened
 * - `dead` `github_not_found` (404, 410) and `github_refused` (no permission, bad credentials, an invalid request)
 */
export interface GitHub {
  /** Our bot's identity, kept for GITHUB_IDENTITY_MS. */
  identity(): Promise<Identity>

  pullRequest(repo: Repo, number: number): Promise<PullRequest>
  /** A person's permission on the repository now; `none` also for an unknown login. */
  permission(repo: Repo, login: string): Promise<'admin' | 'write' | 'read' | 'none'>
  /** All changed files; `cut` for more than FILES_MAX, because GitHub lists no more. */
  files(repo: Repo, number: number): Promise<Rows<FileChange>>
  /** The commit from which `head` left `base`, as in the pull request's diff. */
  mergeBase(repo: Repo, base: string, head: string): Promise<string>
  /** A file's text at a commit or branch, up to FILE_BYTES_MAX. */
  textAt(repo: Repo, ref: string, path: string): Promise<TextAt>
  /** A blob's bytes, up to FILE_BYTES_MAX; no more are held in memory. */
  blob(repo: Repo, sha: string): Promise<Blob>
  /** The pull request template at `ref`, from GitHub's own places for templates; undefined without a template. */
  pullRequestTemplate(repo: Repo, ref: string): Promise<string | undefined>

  /** Reviews, oldest first. Of more than GITHUB_PAGES_MAX pages the newest are read, and `cut` is true. */
  reviews(repo: Repo, number: number): Promise<Rows<ReviewSeen>>
  /** Creates a review without an event: pending, visible only to us. GitHub allows one per author and pull request. */
  createPendingReview(
    repo: Repo,
    number: number,
    review: NewReview,
  ): Promise<{ readonly state: 'created'; readonly id: number } | NotAccepted>
  /** `gone` (404): it was deleted. `not_accepted` (422): the review isn't pending, or the event isn't allowed. */
  submitReview(
    repo: Repo,
    number: number,
    id: number,
    event: 'COMMENT' | 'REQUEST_CHANGES',
    /** Undefined leaves the body as created. */
    body: string | undefined,
  ): Promise<'submitted' | 'gone' | 'not_accepted'>
  /** `gone` (404): the review was deleted before. `not_accepted` (422): the review was submitted. */
  deletePendingReview(repo: Repo, number: number, id: number): Promise<'deleted' | 'gone' | 'not_accepted'>
  reviewComments(repo: Repo, number: number, reviewId: number): Promise<Rows<ReviewCommentSeen>>

  /** Comments on the conversation, oldest first. */
  comments(repo: Repo, number: number): Promise<Rows<CommentSeen>>
  /** One comment by id; undefined for a deleted comment. */
  comment(repo: Repo, id: number): Promise<CommentSeen | undefined>
  createComment(repo: Repo, number: number, body: string): Promise<number>
  updateComment(repo: Repo, id: number, body: string): Promise<void>
  /** A comment that is gone already counts as deleted. */
  deleteComment(repo: Repo, id: number): Promise<void>

  /** Check runs of our App on a commit, oldest first; with `externalId`, only check runs that carry it. */
  checkRuns(repo: Repo, head: string, externalId?: string): Promise<Rows<CheckRunSeen>>
  /** The annotations of a check run, in GitHub's order. */
  checkRunAnnotations(repo: Repo, id: number): Promise<Rows<Annotation>>
  createCheckRun(repo: Repo, head: string, externalId: string, change: CheckRunChange): Promise<number>
  updateCheckRun(repo: Repo, id: number, change: CheckRunChange): Promise<void>

  labels(repo: Repo, number: number): Promise<Rows<string>>
  addLabel(repo: Repo, number: number, label: string): Promise<void>
  /** A label that is gone already counts as removed. */
  removeLabel(repo: Repo, number: number, label: string): Promise<void>
}
