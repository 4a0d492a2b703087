/** Makes and describes tables. Time to live and backups are stored and described; no item ever expires. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { schemaOf } from '../schema.ts'
import type { TableData } from '../table-data.ts'
import type { Tables } from '../tables.ts'
import { type Answer, isObject, type Request } from './request.ts'

export function createTable(tables: Tables, request: Request): Answer {
  return { TableDescription: description(tables.create(schemaOf(request))) }
}

export function describeTable(tables: Tables, request: Request): Answer {
  return { Table: description(tables.table(request.TableName)) }
}

export function describeTimeToLive(tables: Tables, request: Request): Answer {
  const { timeToLiveAttribute: AttributeName } = tables.table(request.TableName)
  return {
    TimeToLiveDescription:
      AttributeName === undefined ? { TimeToLiveStatus: 'DISABLED' } : { TimeToLiveStatus: 'ENABLED', AttributeName },
  }
}

export function updateTimeToLive(tables: Tables, request: Request): Answer {
  const table = tables.table(request.TableName)
  const wanted = isObject(request.TimeToLiveSpecification) ? request.TimeToLiveSpecification : {}
  const { AttributeName, Enabled } = wanted
  if (typeof AttributeName !== 'string' || typeof Enabled !== 'boolean') {
    throw validationError('TimeToLiveSpecification needs AttributeName and Enabled')
  }
  if (Enabled === (table.timeToLiveAttribute !== undefined)) {
    throw validationError(`TimeToLive is already ${Enabled ? 'enabled' : 'disabled'}`)
  }
  table.timeToLiveAttribute = Enabled ? AttributeName : undefined
  return { TimeToLiveSpecification: { AttributeName, Enabled } }
}

export function describeContinuousBackups(tables: Tables, request: Request): Answer {
  return backups(tables.table(request.TableName))
}

export function updateContinuousBackups(tables: Tables, request: Request): Answer {
  const table = tables.table(request.TableName)
  const wanted = request.PointInTimeRecoverySpecification
  if (!isObject(wanted) || typeof wanted.PointInTimeRecoveryEnabled !== 'boolean') {
    throw validationError('PointInTimeRecoverySpecification needs PointInTimeRecoveryEnabled')
  }
  table.pointInTimeRecovery = wanted.PointInTimeRecoveryEnabled
  return backups(table)
}

function description({ schema }: TableData): Answer {
  return {
    TableName: schema.name,
    TableStatus: 'ACTIVE',
    GlobalSecondaryIndexes: schema.indexes.map(({ name }) => ({ IndexName: name, IndexStatus: 'ACTIVE' })),
  }
}

function backups({ pointInTimeRecovery }: TableData): Answer {
  const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: pointInTimeRecovery ? 'ENABLED' : 'DISABLED' }
  return { ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription } }
}
