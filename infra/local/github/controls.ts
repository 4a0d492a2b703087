/** The actions of people and of GitHub itself on the stand-in, and the views for tests. */
import type { Exchange, RecordedRequest } from './api.ts'
import type { Fault, InjectedFault } from './faults.ts'
import type { InjectedLag, Lag } from './lags.ts'
import type { AppPermissions } from './permissions.ts'
import type { NewPullRequest, NewRepository, PullRequestEdit } from './pulls.ts'
import type { Delivery, Permission, Repository } from './records.ts'
import type { PullRequestSnapshot } from './snapshot.ts'

export interface Controls {
  /** Adds a repository, or updates the repository of that name; the id depends on the name alone. */
  addRepository(input: NewRepository): Promise<Repository>
  /** Gives a person a role, e.g. `write`; the owner has `admin`, all other people read public repositories. */
  setPermission(repository: string, login: string, permission: Permission): void
  /** Opens another pull request and sends `opened`; resolves with its number, without a wait for the delivery. */
  openPullRequest(input: NewPullRequest): Promise<number>
  /** A push to the head branch: `synchronize`. The same SHA again does nothing. */
  pushHead(repository: string, number: number, headSha: string): Promise<void>
  /** `edited`, with the earlier values; nothing for an edit without a change. */
  edit(repository: string, number: number, changes: PullRequestEdit): Promise<void>
  setDraft(repository: string, number: number): Promise<void>
  markReady(repository: string, number: number): Promise<void>
  closePullRequest(repository: string, number: number, merged?: boolean): Promise<void>
  /**
   * `reopened`, at the given head or the old one, with the texts and the base that changed while the pull request was
   * closed.
   */
  reopenPullRequest(repository: string, number: number, headSha?: string, meanwhile?: PullRequestEdit): Promise<void>
  /** A person comments on the pull request: `issue_comment`. The comment's id. */
  comment(repository: string, number: number, login: string, body: string): number
  /** The App's permissions from now on, in all installations; unnamed permissions are not granted. */
  setAppPermissions(permissions: AppPermissions): void
  /** Makes coming requests to a route fail in one of GitHub's ways; the first injected fault strikes first. */
  fail(fault: Fault): InjectedFault
  /** Makes coming reads of a route show an earlier state, as a replica behind its primary would. */
  lag(lag: Lag): InjectedLag
  /** Ends all injected faults and lags. */
  heal(): void
  /** Every attempt to deliver, oldest first. */
  deliveries(): Delivery[]
  pullRequest(repository: string, number: number): PullRequestSnapshot
  /** The last 10,000 requests; `route` is null for a request without a route. */
  requests(): readonly RecordedRequest[]
  /** Calls `listener` for every later exchange, whole, before its answer goes out. */
  observe(listener: (exchange: Exchange) => void): void
}
