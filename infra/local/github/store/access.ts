/** The records of the stand-in by kind, and the interfaces to read and write them. */
import type {
  CheckRun,
  Delivery,
  IssueComment,
  PullRequest,
  Repository,
  Review,
  ReviewComment,
  Token,
} from '../records.ts'

export interface Kinds {
  repository: Repository
  pull: PullRequest
  review: Review
  reviewComment: ReviewComment
  issueComment: IssueComment
  checkRun: CheckRun
  delivery: Delivery
  token: Token
}

export type Kind = keyof Kinds

export type Id = number | string

/** A reader never changes a record in place: a changed record is put anew. */
export interface Reader {
  get<K extends Kind>(kind: K, id: Id): Kinds[K] | undefined
  /** All records of a kind below `parent`, in the order of their ids. */
  list<K extends Kind>(kind: K, parent: Id): Kinds[K][]
}

export interface Writer extends Reader {
  put<K extends Kind>(kind: K, id: Id, parent: Id, value: Kinds[K]): void
  remove(kind: Kind, id: Id): void
  /** The next number of a series, never given twice; the first one is `first`. */
  next(series: string, first: number): number
}
