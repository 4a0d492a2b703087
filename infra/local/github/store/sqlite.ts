/** Records in SQLite. A change is on disk before its answer, so that a kill of the process loses no answered change. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Storage } from './storage.ts'

const FILE_NAME = 'github.sqlite'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, id NOT NULL, parent NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, id)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_parent ON records (kind, parent, id);
  CREATE TABLE IF NOT EXISTS series (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`

/** Makes `directory` if absent. Throws `github_state_in_use` if another process has the directory open. */
export function sqliteStorage(directory: string): Storage {
  const database = openDatabase(directory)
  const statements = {
    find: database.prepare('SELECT parent, json FROM records WHERE kind = ? AND id = ?'),
    entries: database.prepare('SELECT id, json FROM records WHERE kind = ? AND parent = ? ORDER BY id'),
    put: database.prepare('INSERT OR REPLACE INTO records (kind, id, parent, json) VALUES (?, ?, ?, ?)'),
    remove: database.prepare('DELETE FROM records WHERE kind = ? AND id = ?'),
    next: database.prepare(
      `INSERT INTO series (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + 1
       RETURNING value`,
    ),
  }
  const find: Storage['find'] = (kind, id) => {
    const row = statements.find.get(kind, id)
    return row && { parent: row.parent as number | string, record: JSON.parse(String(row.json)) }
  }
  return {
    find,
    get: (kind, id) => find(kind, id)?.record,
    entries: (kind, parent) =>
      statements.entries.all(kind, parent).map((row) => [row.id as number | string, JSON.parse(String(row.json))]),
    change(decide) {
      database.exec('BEGIN IMMEDIATE')
      let result: ReturnType<typeof decide>
      try {
        result = decide({
          put: (kind, id, parent, record) => void statements.put.run(kind, id, parent, JSON.stringify(record)),
          remove: (kind, id) => void statements.remove.run(kind, id),
          next: (series, first) => Number(statements.next.get(series, first)?.value),
        })
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
      database.exec('COMMIT')
      return result
    },
    close: () => database.close(),
  }
}

function openDatabase(directory: string): DatabaseSync {
  mkdirSync(directory, { recursive: true })
  const database = new DatabaseSync(join(directory, FILE_NAME))
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
        `github_state_in_use: the GitHub state in ${directory} is open in another process. Stop that process, or use another directory.`,
        { cause: error },
      )
    }
    throw error
  }
  return database
}
