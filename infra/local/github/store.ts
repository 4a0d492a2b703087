/**
 * The stand-in's memory: records in SQLite. A change is one transaction, and is on disk before anything is answered,
 * so that killing the process loses nothing that anybody was told.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type {
  CheckRun,
  Delivery,
  IssueComment,
  PullRequest,
  Repository,
  Review,
  ReviewComment,
  Token,
} from './records.ts'

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

/** Reads give fresh copies: changing one changes nothing until it is put. */
export interface Reader {
  get<K extends Kind>(kind: K, id: Id): Kinds[K] | undefined
  /** Everything of a kind that belongs to `parent`, in the order of its ids. */
  list<K extends Kind>(kind: K, parent: Id): Kinds[K][]
}

export interface Writer extends Reader {
  put<K extends Kind>(kind: K, id: Id, parent: Id, value: Kinds[K]): void
  remove(kind: Kind, id: Id): void
  /** The next number of a series, never given twice; the first one is `first`. */
  next(series: string, first: number): number
}

export interface Store extends Reader {
  /** Runs `decide` in one transaction; if it throws, nothing has changed. Synchronous on purpose: nothing comes between. */
  change<T>(decide: (writer: Writer) => T): T
  /** The state as a replica would show it that is `lagMs` behind. */
  readonly lagging: Reader
  /** Resolves at the next change. */
  changed(): Promise<void>
  close(): void
}

/** Parent of the kinds that belong to nothing. */
export const TOP = ''

/** What a lagging replica shows of a record; its parameter is the newest moment that it has seen. */
const SHOWN = 'CASE WHEN written_at <= ? THEN json ELSE before END'

const FILE_NAME = 'github.sqlite'

/** `before` is what a replica that hasn't seen the newest write still shows; a null `json` is a removed record. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, id NOT NULL, parent NOT NULL, json TEXT, before TEXT, written_at INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_parent ON records (kind, parent, id);
  CREATE TABLE IF NOT EXISTS series (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`

export interface StoreOptions {
  /** Made if absent; without one, the state is in memory. */
  directory: string | undefined
  now: () => number
  /** How far `lagging` is behind. */
  lagMs: number
}

/**
 * Opens the store.
 * Throws `github_state_in_use` if another process has it open.
 */
export function openStore({ directory, now, lagMs }: StoreOptions): Store {
  const database = openDatabase(directory)
  const statements = {
    get: database.prepare('SELECT json FROM records WHERE kind = ? AND id = ?'),
    list: database.prepare('SELECT json FROM records WHERE kind = ? AND parent = ? AND json IS NOT NULL ORDER BY id'),
    getLagging: database.prepare(`SELECT ${SHOWN} AS json FROM records WHERE kind = ? AND id = ?`),
    listLagging: database.prepare(
      `SELECT json FROM (SELECT id, ${SHOWN} AS json
       FROM records WHERE kind = ? AND parent = ?) WHERE json IS NOT NULL ORDER BY id`,
    ),
    put: database.prepare(
      `INSERT INTO records (kind, id, parent, json, before, written_at) VALUES (?, ?, ?, ?, NULL, ?)
       ON CONFLICT (kind, id) DO UPDATE SET parent = excluded.parent, before = ${SHOWN},
       json = excluded.json, written_at = excluded.written_at`,
    ),
    remove: database.prepare(
      `UPDATE records SET before = ${SHOWN}, json = NULL, written_at = ? WHERE kind = ? AND id = ?`,
    ),
    next: database.prepare(
      `INSERT INTO series (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + 1
       RETURNING value`,
    ),
  }
  let waiting = Promise.withResolvers<void>()

  const reader: Reader = {
    get: (kind, id) => one(statements.get, kind, id),
    list: (kind, parent) => all(statements.list, kind, parent),
  }
  const writer: Writer = {
    ...reader,
    put: (kind, id, parent, value) =>
      void statements.put.run(kind, id, parent, JSON.stringify(value), now(), now() - lagMs),
    remove: (kind, id) => void statements.remove.run(now() - lagMs, now(), kind, id),
    next: (series, first) => Number(statements.next.get(series, first)?.value),
  }
  return {
    ...reader,
    change(decide) {
      database.exec('BEGIN IMMEDIATE')
      let result: ReturnType<typeof decide>
      try {
        result = decide(writer)
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
      database.exec('COMMIT')
      waiting.resolve()
      waiting = Promise.withResolvers<void>()
      return result
    },
    lagging:
      lagMs === 0
        ? reader
        : {
            get: (kind, id) => one(statements.getLagging, now() - lagMs, kind, id),
            list: (kind, parent) => all(statements.listLagging, now() - lagMs, kind, parent),
          },
    changed: () => waiting.promise,
    close: () => database.close(),
  }
}

function openDatabase(directory: string | undefined): DatabaseSync {
  if (directory !== undefined) mkdirSync(directory, { recursive: true })
  const database = new DatabaseSync(directory === undefined ? ':memory:' : join(directory, FILE_NAME))
  try {
    // One process at a time: two stand-ins over one state would each hand out the same numbers.
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    // With a write-ahead log a committed write is with the operating system: safe from kill -9, though not from a power cut.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    database.exec(SCHEMA)
  } catch (error) {
    database.close()
    if (error instanceof Error && error.message.includes('locked')) {
      throw new Error(
        `github_state_in_use: the GitHub state in ${directory} is open in another process. Stop that one, or use another directory.`,
        { cause: error },
      )
    }
    throw error
  }
  return database
}

function one<K extends Kind>(statement: StatementSync, ...parameters: Id[]): Kinds[K] | undefined {
  const json = statement.get(...parameters)?.json
  return typeof json === 'string' ? JSON.parse(json) : undefined
}

function all<K extends Kind>(statement: StatementSync, ...parameters: Id[]): Kinds[K][] {
  return statement.all(...parameters).map((row) => JSON.parse(String(row.json)))
}
