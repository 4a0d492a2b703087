/** Patterns of requests on the wire, by their effect; schedules stop a process at such a request. */
import type { WireRequest } from '../services/service.ts'

export type RequestMatch = (service: string, request: WireRequest) => boolean

interface Values {
  readonly [name: string]: { readonly S?: string } | undefined
}

interface TableRequest {
  readonly Key?: Values
  readonly Item?: Values
  readonly TransactItems?: readonly Readonly<Record<string, TableRequest>>[]
  readonly ExpressionAttributeValues?: Values
}

/** A write of an item: its operation, its key as `pk sk`, and the new state if given. */
export function writes(operation: 'PutItem' | 'UpdateItem' | 'DeleteItem', key: RegExp, state?: string): RequestMatch {
  return (service, request) => {
    if (service !== 'table' || actionOf(request) !== operation) return false
    const body = JSON.parse(request.body) as TableRequest
    return key.test(keyIn(body)) && (state === undefined || body.ExpressionAttributeValues?.[':state']?.S === state)
  }
}

/** A transaction that writes an item of the key `pk sk`. */
export function transacts(key: RegExp): RequestMatch {
  return (service, request) => {
    if (service !== 'table' || actionOf(request) !== 'TransactWriteItems') return false
    const { TransactItems = [] } = JSON.parse(request.body) as TableRequest
    return TransactItems.flatMap((member) => Object.values(member)).some((member) => key.test(keyIn(member)))
  }
}

/** A read of the item of the key `pk sk`. */
export function reads(key: RegExp): RequestMatch {
  return (service, request) =>
    service === 'table' && actionOf(request) === 'GetItem' && key.test(keyIn(JSON.parse(request.body) as TableRequest))
}

/** A query of a partition, by the beginning of its key. */
export function queries(pk: string): RequestMatch {
  return (service, request) => {
    if (service !== 'table' || actionOf(request) !== 'Query') return false
    const { ExpressionAttributeValues = {} } = JSON.parse(request.body) as TableRequest
    return ExpressionAttributeValues[':pk']?.S?.startsWith(pk) === true
  }
}

/** A call of Step Functions. */
export function calls(action: 'SendTaskSuccess' | 'StopExecution' | 'StartExecution'): RequestMatch {
  return (service, request) => service === 'machine' && actionOf(request) === action
}

/** Requests to GitHub, by their method and the end of their path. */
export const github = {
  any: (service: string) => service === 'github',
  readsPullRequest: atGitHub('GET', /\/pulls\/\d+$/),
  createsReview: atGitHub('POST', /\/pulls\/\d+\/reviews$/),
  submitsReview: atGitHub('POST', /\/reviews\/\d+\/events$/),
  deletesReview: atGitHub('DELETE', /\/reviews\/\d+$/),
  changesCheckRun: atGitHub('PATCH', /\/check-runs\/\d+$/),
  changesComment: atGitHub('PATCH', /\/issues\/comments\/\d+$/),
} as const

function atGitHub(method: string, path: RegExp): RequestMatch {
  return (service, request) =>
    service === 'github' && request.method === method && path.test(request.path.split('?', 1)[0] ?? '')
}

function actionOf({ headers }: WireRequest): string {
  return headers['x-amz-target']?.split('.').at(-1) ?? ''
}

function keyIn({ Key, Item }: TableRequest): string {
  const key = Key ?? Item ?? {}
  return `${key.pk?.S ?? ''} ${key.sk?.S ?? ''}`
}
