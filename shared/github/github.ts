/** What Muster asks of GitHub, in plain types: what is read is whole or says that it isn't, what is written says if it happened. */
import type { FileChange } from '../findings/diff.ts'
import type { Annotation, CheckRunResource, InlineComment } from '../publishing/github-payloads.ts'

export interface Repo {
  readonly owner: string
  readonly name: string
}

export interface PullRequest {
  readonly number: number
  readonly title: string
  /** The description, `''` if there is none (H18). */
  readonly body: string
  readonly draft: boolean
  readonly state: 'open' | 'closed'
  readonly merged: boolean
  readonly head: { readonly sha: string; readonly ref: string }
  readonly base: { readonly sha: string; readonly ref: string }
  readonly author: { readonly login: string; readonly type: string }
  /** Milliseconds since the epoch, UTC. GitHub's own resolution is a second. */
  readonly updatedAt: number
}

/** Rows of a list. `cut` is true if GitHub has more of them than were read: what lies beyond is unknown, never absent. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly cut: boolean
}

/** A file at a commit. Only `absent` means that there is none. */
export type TextAt =
  | { readonly state: 'text'; readonly text: string }
  | { readonly state: 'absent' }
  /** A directory, a submodule, a symbolic link, or bytes that are no UTF-8. */
  | { readonly state: 'not_text' }
  | { readonly state: 'too_large' }

export type Blob = { readonly state: 'bytes'; readonly bytes: Uint8Array } | { readonly state: 'too_large' }

/** Who we are at GitHub. `id` is the bot user's id, which outlives a rename of the App (D12); `appId` is the App's. */
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
  /** Absent for a comment on a file, and for one that the newest diff no longer holds. */
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

/** What is sent to a check run. At most 50 annotations; GitHub appends them to those that are there (S1). */
export type CheckRunChange = Omit<CheckRunResource, 'kind' | 'head' | 'externalId'>

export interface NewReview {
  readonly commitId: string
  readonly body: string
  readonly comments: readonly InlineComment[]
}

/** A refusal of exactly this request (422), with GitHub's own sentence: the caller looks again and decides. */
export interface NotAccepted {
  readonly state: 'refused'
  readonly sentence: string
}

/**
 * GitHub as one installation of our App sees it.
 *
 * Every call has a deadline (GITHUB_CALL_MS). Reads may be asked twice within it; writes are asked once (AW74).
 * Failures, by `name` and `code` (shared/base/errors.ts):
 * - `retry` `github_throttled`: a limit; nothing happened; `afterMs` is GitHub's own time where it names one
 * - `retry` `github_unreachable`: no usable answer; `outcomeUnknown` is true for a write, which may have happened
 * - `dead` `github_not_found` (404, 410) and `github_refused` (a missing permission, bad credentials, an invalid request)
 */
export interface GitHub {
  /** Our bot's identity, kept for GITHUB_IDENTITY_MS. */
  identity(): Promise<Identity>

  pullRequest(repo: Repo, number: number): Promise<PullRequest>
  /** What a person may do to the repository now; `none` also for a login that GitHub doesn't know. */
  permission(repo: Repo, login: string): Promise<'admin' | 'write' | 'read' | 'none'>
  /** All changed files; `cut` if there are more than FILES_MAX, which GitHub doesn't list. */
  files(repo: Repo, number: number): Promise<Rows<FileChange>>
  /** The commit from which `head` left `base`, as GitHub shows the pull request's diff. */
  mergeBase(repo: Repo, base: string, head: string): Promise<string>
  /** A file's text at a commit or branch, up to FILE_BYTES_MAX. */
  textAt(repo: Repo, ref: string, path: string): Promise<TextAt>
  /** A blob's bytes, up to FILE_BYTES_MAX: no more than that is held in memory. */
  blob(repo: Repo, sha: string): Promise<Blob>
  /** The pull request template at `ref`, from the places where GitHub looks; undefined if there is none. */
  pullRequestTemplate(repo: Repo, ref: string): Promise<string | undefined>

  /** Reviews, oldest first. Where there are more than GITHUB_PAGES_MAX pages the newest are read, and `cut` is true. */
  reviews(repo: Repo, number: number): Promise<Rows<ReviewSeen>>
  /** A review without an event: pending, seen by nobody else. GitHub allows one per author and pull request. */
  createPendingReview(
    repo: Repo,
    number: number,
    review: NewReview,
  ): Promise<{ readonly state: 'created'; readonly id: number } | NotAccepted>
  /** `gone` (404): it was deleted. `not_accepted` (422): it isn't pending any more, or this event isn't allowed. */
  submitReview(
    repo: Repo,
    number: number,
    id: number,
    event: 'COMMENT' | 'REQUEST_CHANGES',
    /** Undefined leaves the body that it was created with. */
    body: string | undefined,
  ): Promise<'submitted' | 'gone' | 'not_accepted'>
  /** `gone` (404): it was deleted before. `not_accepted` (422): it isn't pending any more, because it was submitted. */
  deletePendingReview(repo: Repo, number: number, id: number): Promise<'deleted' | 'gone' | 'not_accepted'>
  reviewComments(repo: Repo, number: number, reviewId: number): Promise<Rows<ReviewCommentSeen>>

  /** Comments on the conversation, oldest first. */
  comments(repo: Repo, number: number): Promise<Rows<CommentSeen>>
  /** One comment by id; undefined if it is gone. */
  comment(repo: Repo, id: number): Promise<CommentSeen | undefined>
  createComment(repo: Repo, number: number, body: string): Promise<number>
  updateComment(repo: Repo, id: number, body: string): Promise<void>
  /** A comment that is gone already counts as deleted. */
  deleteComment(repo: Repo, id: number): Promise<void>

  /** Check runs of our App on a commit, oldest first; only those with `externalId` where one is given. */
  checkRuns(repo: Repo, head: string, externalId?: string): Promise<Rows<CheckRunSeen>>
  /** What a check run's annotations say, in GitHub's order. */
  checkRunAnnotations(repo: Repo, id: number): Promise<Rows<Annotation>>
  createCheckRun(repo: Repo, head: string, externalId: string, change: CheckRunChange): Promise<number>
  updateCheckRun(repo: Repo, id: number, change: CheckRunChange): Promise<void>

  labels(repo: Repo, number: number): Promise<Rows<string>>
  addLabel(repo: Repo, number: number, label: string): Promise<void>
  /** A label that isn't there counts as removed. */
  removeLabel(repo: Repo, number: number, label: string): Promise<void>
}
