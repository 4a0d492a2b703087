/**
 * The border to dynalite: the used parts, typed, with promises for callbacks and `ServiceError` for dynalite's own
 * errors.
 */
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { ServiceError } from './errors.ts'

/** `{ S: 'text' }`, `{ N: '1' }`, …: one tagged value of the protocol. */
export type AttributeValue = Readonly<Record<string, unknown>>
export type Item = Readonly<Record<string, AttributeValue>>
export type Request = Readonly<Record<string, unknown>>
export type Answer = Record<string, unknown>

export interface Index {
  readonly IndexName: string
  IndexStatus?: string
}

export interface Table {
  readonly TableName: string
  readonly KeySchema: readonly { readonly AttributeName: string }[]
  TableStatus: string
  readonly GlobalSecondaryIndexes?: readonly Index[]
}

export type Write = { type: 'put'; key: string; value: unknown } | { type: 'del'; key: string }

type Done<T = void> = (error: Error | null | undefined, value?: T) => void

/** One key range of the database, in the form of dynalite's actions. */
export interface Rows<T> {
  lock(key: string, work: (release: (done: Done) => Done) => void): void
  get(key: string, done: Done<T>): void
  put(key: string, value: T, done: Done): void
  del(key: string, done: Done): void
}

interface Range {
  readonly gte: string
  readonly lt: string
}

/** The LevelDB database under every table: keys are text, values JSON. `batch` is atomic, also over kill -9. */
export interface Database {
  open(): Promise<void>
  close(): Promise<void>
  get(key: string): Promise<unknown>
  put(key: string, value: unknown): Promise<void>
  del(key: string): Promise<void>
  batch(writes: readonly Write[]): Promise<void>
  iterator(range: Range): AsyncIterable<[string, unknown]>
  values(range: Range): AsyncIterable<unknown>
  keys(range: Range): AsyncIterable<string>
  createValueStream(range: Range): Readable
  createKeyStream(range: Range): Readable
}

export interface Store {
  readonly db: Database
  getTable(name: string, mustBeActive: boolean, done: Done<Table>): void
  getItemDb(table: string): Rows<Item>
  getIndexDb(kind: string, table: string, index: string): Rows<Item>
}

interface IndexRow {
  readonly index: string
  readonly key: string
  readonly item: Item
}

interface Internals {
  create(options: { path?: string; createTableMs: number; deleteTableMs: number; updateTableMs: number }): Store
  createKey(item: Item, table: Table): string
  validateKey(key: Item, table: Table): Error | null | undefined
  itemSize(item: Item): number
  getIndexActions(indexes: readonly Index[], before: null, after: Item, table: Table): { puts: IndexRow[] }
}

/** The operations of dynalite itself. */
const operations = [
  'CreateTable',
  'DeleteItem',
  'DescribeTable',
  'GetItem',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
] as const

export type Operation = (typeof operations)[number]

type Action = (store: Store, request: Request, done: Done<Answer>) => void

interface Rules {
  readonly types: object
  readonly custom?: unknown
}

interface Validations {
  checkTypes(request: Request, types: object): Request
  checkValidations(request: Request, types: object, custom: unknown, store: Store): void
}

const load = createRequire(import.meta.url)
const internals = load('dynalite/db') as Internals
const validations = load('dynalite/validations') as Validations
const actions = loadEach<Action>('actions')
const rules = loadEach<Rules>('validations')

export const { createKey, validateKey, itemSize } = internals

/**
 * Opens the tables under `path`, or empty tables in memory. Rejects with LevelDB's own error, whose `cause.code` is
 * `LEVEL_LOCKED` while another process, or another store of this process, has the same path open.
 */
export async function openStore(path: string | undefined): Promise<Store> {
  // A table is usable at once: half a second of CREATING would serve nothing here.
  const delays = { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 }
  const store = internals.create(path === undefined ? delays : { path, ...delays })
  // dynalite's own streams never close their iterator, so each query would keep a snapshot of the database for good.
  store.db.createValueStream = (range) => Readable.from(store.db.values(range))
  store.db.createKeyStream = (range) => Readable.from(store.db.keys(range))
  await store.db.open()
  return store
}

/** The key range of dynalite's rows of a table, and of an index. Every index here is a global one. */
export const tableRows = (table = ''): string => `table~${table}`
export const itemRows = (table: string): string => `item-${table}~`
export const indexRows = (table: string, index = ''): string =>
  `index-global~${table}~${index === '' ? '' : `${index}~`}`

/** Every key that starts with `prefix`; dynalite's keys are ASCII. */
export function startingWith(prefix: string): Range {
  return { gte: prefix, lt: `${prefix}\xff` }
}

/** The rows of `item` in the indexes of `table`, by their key in the database. */
export function expectedIndexRows(table: Table, item: Item): [string, Item][] {
  const { puts } = internals.getIndexActions(table.GlobalSecondaryIndexes ?? [], null, item, table)
  return puts.map((row) => [indexRows(table.TableName, row.index) + row.key, row.item])
}

/** The description of an active table; a `ServiceError` (ResourceNotFoundException) for any other name. */
export function getTable(store: Store, name: string): Promise<Table> {
  return promised((done) => store.getTable(name, true, done))
}

/** DynamoDB's checks before any look at a table. Returns the request without unknown members. */
export function validate(store: Store, operation: Operation, request: Request): Request {
  const { types, custom } = rules[operation]
  try {
    const known = validations.checkTypes({ ...request }, types) // a copy: `checkTypes` deletes unknown members
    validations.checkValidations(known, types, custom, store)
    return known
  } catch (error) {
    throw translated(error)
  }
}

/** Runs one of dynalite's actions on a validated request. */
export function perform(store: Store, operation: Operation, request: Request): Promise<Answer> {
  return promised((done) => actions[operation](store, request, done))
}

/** Calls back with a promise's result, as dynalite's actions expect from their rows. */
export function callBack(work: Promise<void>, done: Done): void {
  work.then(() => done(null), done)
}

function loadEach<Part>(folder: string): Record<Operation, Part> {
  const parts = operations.map((name) => {
    const file = `dynalite/${folder}/${name.charAt(0).toLowerCase()}${name.slice(1)}.js`
    return [name, load(file) as Part]
  })
  return Object.fromEntries(parts) as Record<Operation, Part>
}

function promised<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(translated(error)) : resolve(value as T)))
  })
}

/** dynalite's errors carry the status and the body for the client. */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || !('body' in error)) return error
  const { __type, message, Message } = error.body as { __type: string; message?: string; Message?: string }
  return new ServiceError(__type.slice(__type.indexOf('#') + 1), message ?? Message ?? '', {}, { cause: error })
}
