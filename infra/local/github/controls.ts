/** What people, and GitHub itself, do to the stand-in, and what can be seen of it. */
import type { Exchange, RecordedRequest } from './api.ts'
import type { Fault, InjectedFault } from './faults.ts'
import type { InjectedLag, Lag } from './lags.ts'
import type { AppPermissions } from './permissions.ts'
import type { NewPullRequest, NewRepository, PullRequestEdit } from './pulls.ts'
import type { Delivery, Permission, Repository } from './records.ts'
import type { PullRequestSnapshot } from './snapshot.ts'

export interface Controls {
  /** Adds a repository, or updates the one of that name; its id depends on its name alone. */
  addRepository(input: NewRepository): Promise<Repository>
  /** Gives a person a role, e.g. `write`; the owner has `admin`, everybody else reads what is public. */
  setPermission(repository: string, login: string, permission: Permission): void
  /** Opens another pull request and sends `opened`; resolves with its number, not waiting for the delivery. */
  openPullRequest(input: NewPullRequest): Promise<number>
  /** A push to the head branch: `synchronize`. The same SHA again does nothing. */
  pushHead(repository: string, number: number, headSha: string): Promise<void>
  /** `edited`, with what it was before; nothing if nothing differs. */
  edit(repository: string, number: number, changes: PullRequestEdit): Promise<void>
  setDraft(repository: string, number: number): Promise<void>
  markReady(repository: string, number: number): Promise<void>
  closePullRequest(repository: string, number: number, merged?: boolean): Promise<void>
  /** `reopened`, at another head if one is given, and with other texts or another base: what changed while it was closed. */
  reopenPullRequest(repository: string, number: number, headSha?: string, meanwhile?: PullRequestEdit): Promise<void>
  /** A person comments on the pull request: `issue_comment`. The comment's id. */
  comment(repository: string, number: number, login: string, body: string): number
  /** What the App may do from now on, wherever it is installed; what isn't named isn't granted. */
  setAppPermissions(permissions: AppPermissions): void
  /** Makes coming requests to a route fail in a way that GitHub does; the first fault ordered strikes first. */
  fail(fault: Fault): InjectedFault
  /** Makes coming reads of a route show the state of a while ago, as a replica behind its primary would. */
  lag(lag: Lag): InjectedLag
  /** Ends all faults, and the lags that were ordered. */
  heal(): void
  /** Every attempt to deliver, oldest first. */
  deliveries(): Delivery[]
  pullRequest(repository: string, number: number): PullRequestSnapshot
  /** The last 10,000 requests; `route` is null for those that no route knows. */
  requests(): readonly RecordedRequest[]
  /** Tells of every exchange from now on, whole, before its answer goes out. */
  observe(listener: (exchange: Exchange) => void): void
}
