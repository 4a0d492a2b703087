/**
 * Table settings that a stack makes and that change nothing on one machine: time to live and continuous backups are
 * kept and described, but no item ever expires. (On AWS an expired item may stay for days: nothing may rely on it.)
 */
import { type Answer, getTable, type Request, type Store } from './dynalite.ts'
import { validationError } from './errors.ts'

interface Settings {
  readonly timeToLiveAttribute?: string
  readonly pointInTimeRecovery?: boolean
}

export async function describeTimeToLive(store: Store, request: Request): Promise<Answer> {
  const { timeToLiveAttribute } = await read(store, await tableNameOf(store, request))
  const description =
    timeToLiveAttribute === undefined
      ? { TimeToLiveStatus: 'DISABLED' }
      : { TimeToLiveStatus: 'ENABLED', AttributeName: timeToLiveAttribute }
  return { TimeToLiveDescription: description }
}

export async function updateTimeToLive(store: Store, request: Request): Promise<Answer> {
  const table = await tableNameOf(store, request)
  const wanted = request.TimeToLiveSpecification as { AttributeName?: unknown; Enabled?: unknown } | undefined
  if (typeof wanted?.AttributeName !== 'string' || typeof wanted.Enabled !== 'boolean') {
    throw validationError('TimeToLiveSpecification needs AttributeName and Enabled')
  }
  const { timeToLiveAttribute, ...others } = await read(store, table)
  if (wanted.Enabled === (timeToLiveAttribute !== undefined)) {
    throw validationError(`TimeToLive is already ${wanted.Enabled ? 'enabled' : 'disabled'}`)
  }
  await write(store, table, wanted.Enabled ? { ...others, timeToLiveAttribute: wanted.AttributeName } : others)
  return { TimeToLiveSpecification: { AttributeName: wanted.AttributeName, Enabled: wanted.Enabled } }
}

export async function describeContinuousBackups(store: Store, request: Request): Promise<Answer> {
  return describeBackups(await read(store, await tableNameOf(store, request)))
}

export async function updateContinuousBackups(store: Store, request: Request): Promise<Answer> {
  const table = await tableNameOf(store, request)
  const wanted = request.PointInTimeRecoverySpecification as { PointInTimeRecoveryEnabled?: unknown } | undefined
  if (typeof wanted?.PointInTimeRecoveryEnabled !== 'boolean') {
    throw validationError('PointInTimeRecoverySpecification needs PointInTimeRecoveryEnabled')
  }
  const settings = { ...(await read(store, table)), pointInTimeRecovery: wanted.PointInTimeRecoveryEnabled }
  await write(store, table, settings)
  return describeBackups(settings)
}

/** A table made anew under an old name starts without settings. */
export async function forgetSettings(store: Store, table: string): Promise<void> {
  await store.db.del(rowOf(table))
}

function describeBackups({ pointInTimeRecovery = false }: Settings): Answer {
  const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: pointInTimeRecovery ? 'ENABLED' : 'DISABLED' }
  return { ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription } }
}

async function tableNameOf(store: Store, request: Request): Promise<string> {
  const table = await getTable(store, String(request.TableName))
  return table.TableName
}

async function read(store: Store, table: string): Promise<Settings> {
  return ((await store.db.get(rowOf(table))) ?? {}) as Settings
}

async function write(store: Store, table: string, settings: Settings): Promise<void> {
  await store.db.put(rowOf(table), settings)
}

function rowOf(table: string): string {
  return `settings~${table}`
}
