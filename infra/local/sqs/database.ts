/** The SQLite database of the queues: file, guarantees, tables. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Raised when the tables of earlier files no longer serve: the service refuses a file of another version instead of a
 * guess.
 */
const schemaVersion = 1

/** SQLite's result code for a file that another process has locked. */
const sqliteBusy = 5

/*
 * `messages.seq` is the order of arrival over all queues, and the SequenceNumber of FIFO queues: AUTOINCREMENT never
 * uses a number twice. A message is in flight from its receive until its visibility. The wide column comes last, so
 * that scans of the others don't read it.
 */
const tables = `
  CREATE TABLE queues (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, attributes TEXT NOT NULL
  ) STRICT;
  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, queue INTEGER NOT NULL, id TEXT NOT NULL, sent_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, first_received_at INTEGER, last_received_at INTEGER,
    group_id TEXT, deduplication_id TEXT, source_arn TEXT, body_md5 TEXT NOT NULL, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX messages_ready ON messages (queue, visible_at);
  CREATE INDEX messages_age ON messages (queue, sent_at);
  CREATE INDEX messages_received ON messages (queue, receives) WHERE receives > 0;
  CREATE INDEX messages_order ON messages (queue, seq) WHERE group_id IS NOT NULL;
  CREATE INDEX messages_group ON messages (queue, group_id, visible_at) WHERE group_id IS NOT NULL;
  CREATE TABLE deduplications (
    queue INTEGER NOT NULL, key TEXT NOT NULL, message_id TEXT NOT NULL, seq INTEGER NOT NULL, sent_at INTEGER NOT NULL,
    PRIMARY KEY (queue, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX deduplications_age ON deduplications (queue, sent_at);
`

/**
 * Opens `file`, or a database in memory, for this process alone. Committed writes survive the end of the process at any
 * moment (write-ahead log); a power failure may cost the last commits, never the file.
 */
export function openDatabase(file: string | undefined): DatabaseSync {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file ?? ':memory:')
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    database.exec('BEGIN IMMEDIATE')
    const version = database.prepare('PRAGMA user_version').get()?.user_version
    if (version === 0) database.exec(`${tables} PRAGMA user_version = ${schemaVersion}`)
    else if (version !== schemaVersion) {
      throw new Error(
        `sqs_state_version: ${file} has version ${version}, not ${schemaVersion}. Remove the file, or use the version of Muster that wrote it.`,
      )
    }
    database.exec('COMMIT')
    return database
  } catch (cause) {
    database.close()
    if (isBusy(cause)) {
      throw new Error(
        `sqs_state_in_use: ${file} is used by another process. Stop that process, or use another state.`,
        {
          cause,
        },
      )
    }
    throw cause
  }
}

/** Runs `work` as one transaction: all of its writes or none. */
export function transaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
