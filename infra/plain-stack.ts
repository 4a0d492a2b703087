/** The stack as plain data with concrete names, for programs other than CloudFormation that start the stack. */
import path from 'node:path'
import {
  type Account,
  type ResourceNames,
  substitute,
  type Template,
  type TemplateResource,
  templateResolver,
} from './template.ts'

export interface PlainTable {
  readonly name: string
  /** The input of DynamoDB's CreateTable. */
  readonly createTable: Readonly<Record<string, unknown>> & { readonly TableName: string }
}

export interface PlainQueue {
  readonly name: string
  readonly arn: string
  /** The URL in a function's environment; the server of the queue replaces this placeholder with the real URL. */
  readonly url: string
  /**
   * The attributes of SQS's CreateQueue, `RedrivePolicy` as JSON. A queue follows its dead-letter queue in the list.
   */
  readonly attributes: Readonly<Record<string, string>>
}

export interface PlainFunction {
  readonly name: string
  readonly arn: string
  /** Folder with the code. */
  readonly bundle: string
  /** Module and export, as in `index.handler`. */
  readonly handler: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** The most invocations at once; absent: no limit. */
  readonly reservedConcurrency?: number | undefined
}

export interface PlainEventSource {
  /** Name of the queue. */
  readonly queue: string
  /** Name of the function. */
  readonly function: string
  readonly batchSize: number
  /** The most invocations that work on the queue at once; absent: no limit. */
  readonly maxConcurrency?: number | undefined
  readonly reportBatchItemFailures: boolean
}

export interface PlainRoute {
  readonly method: string
  readonly path: string
  /** Name of the function. */
  readonly function: string
}

export interface PlainSchedule {
  readonly intervalMs: number
  /** Name of the function. */
  readonly function: string
}

export interface PlainStateMachine {
  readonly arn: string
  /** The definition in the States Language, with concrete ARNs. */
  readonly definition: Readonly<Record<string, unknown>>
}

export interface PlainStack {
  readonly account: Account
  readonly table: PlainTable
  readonly secrets: readonly { readonly name: string }[]
  readonly queues: readonly PlainQueue[]
  readonly functions: readonly PlainFunction[]
  readonly eventSources: readonly PlainEventSource[]
  readonly routes: readonly PlainRoute[]
  readonly schedules: readonly PlainSchedule[]
  readonly stateMachines: readonly PlainStateMachine[]
}

/** The paths of the template's assets by their hashes. */
export type AssetPaths = Readonly<Record<string, string>>

/** Reads and resolves the property at a path of a resource. Only requested properties need to be resolvable. */
type Read = (...path: string[]) => unknown

interface NamedResource {
  readonly logicalId: string
  readonly name: string
  readonly names: ResourceNames
  readonly read: Read
}

/** Turns a template into plain data. Throws an error that names the logical id of an unresolvable value. */
export function plainStack(template: Template, assets: AssetPaths, account: Account): PlainStack {
  const resolve = templateResolver(template, account, (logicalId, resource) => namesOf(logicalId, resource, account))
  const all = (type: string): NamedResource[] =>
    Object.entries(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([logicalId, resource]) => ({
        logicalId,
        name: plainName(logicalId, resource),
        names: namesOf(logicalId, resource, account) ?? { ref: logicalId, attributes: {} },
        read: (...path) => resolve(valueAt(resource.Properties, path), logicalId),
      }))

  return {
    account,
    table: plainTable(onlyOne('AWS::DynamoDB::Table', all('AWS::DynamoDB::Table'))),
    secrets: all('AWS::SecretsManager::Secret').map(({ name }) => ({ name })),
    queues: deadLettersFirst(all('AWS::SQS::Queue').map(plainQueue)),
    functions: all('AWS::Lambda::Function').map((resource) => plainFunction(resource, assets)),
    eventSources: all('AWS::Lambda::EventSourceMapping').map(plainEventSource),
    routes: all('AWS::ApiGatewayV2::Route').map((route) => plainRoute(route, all('AWS::ApiGatewayV2::Integration'))),
    schedules: all('AWS::Scheduler::Schedule').map(plainSchedule),
    stateMachines: all('AWS::StepFunctions::StateMachine').map(plainStateMachine),
  }
}

function plainTable({ name, read }: NamedResource): PlainTable {
  return {
    name,
    createTable: {
      TableName: name,
      KeySchema: read('KeySchema'),
      AttributeDefinitions: read('AttributeDefinitions'),
      GlobalSecondaryIndexes: read('GlobalSecondaryIndexes'),
      BillingMode: read('BillingMode'),
    },
  }
}

/** CloudFormation and SQS share these names; SQS takes every value as text. */
const queueAttributes = [
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
  'VisibilityTimeout',
  'MessageRetentionPeriod',
  'SqsManagedSseEnabled',
  'RedrivePolicy',
]

function plainQueue({ name, names, read }: NamedResource): PlainQueue {
  const attributes = queueAttributes.flatMap((attribute) => {
    const value = read(attribute)
    if (value === undefined) return []
    return [[attribute, typeof value === 'object' ? JSON.stringify(value) : String(value)] as const]
  })
  return { name, arn: names.attributes.Arn ?? '', url: names.ref, attributes: Object.fromEntries(attributes) }
}

function deadLettersFirst(queues: PlainQueue[]): PlainQueue[] {
  const isFed = (queue: PlainQueue) => Number('RedrivePolicy' in queue.attributes)
  return queues.toSorted((one, other) => isFed(one) - isFed(other))
}

function plainFunction({ name, names, read, logicalId }: NamedResource, assets: AssetPaths): PlainFunction {
  // The bucket belongs to the deploy; the key is the hash of the asset.
  const assetHash = path.parse(text(read('Code', 'S3Key'), logicalId)).name
  const bundle = assets[assetHash]
  if (bundle === undefined) throw new Error(`The code of ${logicalId} isn't among the assets: ${assetHash}.`)
  return {
    name,
    arn: names.attributes.Arn ?? '',
    bundle,
    handler: text(read('Handler'), logicalId),
    environment: (read('Environment', 'Variables') ?? {}) as Record<string, string>,
    timeoutMs: count(read('Timeout'), logicalId) * 1_000,
    reservedConcurrency: read('ReservedConcurrentExecutions') as number | undefined,
  }
}

function plainEventSource({ read, logicalId }: NamedResource): PlainEventSource {
  const responseTypes = (read('FunctionResponseTypes') ?? []) as string[]
  return {
    queue: lastPart(read('EventSourceArn'), logicalId),
    function: lastPart(read('FunctionName'), logicalId),
    batchSize: count(read('BatchSize'), logicalId),
    maxConcurrency: read('ScalingConfig', 'MaximumConcurrency') as number | undefined,
    reportBatchItemFailures: responseTypes.includes('ReportBatchItemFailures'),
  }
}

function plainRoute({ read, logicalId }: NamedResource, integrations: NamedResource[]): PlainRoute {
  const [method, routePath] = text(read('RouteKey'), logicalId).split(' ')
  const target = text(read('Target'), logicalId).replace(/^integrations\//, '')
  const integration = integrations.find(({ names }) => names.ref === target)
  if (method === undefined || routePath === undefined || integration === undefined) {
    throw new Error(`The route ${logicalId} must have a method, a path and an integration of this template.`)
  }
  return { method, path: routePath, function: lastPart(integration.read('IntegrationUri'), logicalId) }
}

const millisecondsOf: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

function plainSchedule({ read, logicalId }: NamedResource): PlainSchedule {
  const expression = text(read('ScheduleExpression'), logicalId)
  const [, amount, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? []
  const unitMs = millisecondsOf[unit]
  if (amount === undefined || unitMs === undefined) {
    throw new Error(`The schedule ${logicalId} must be a rate in minutes, hours or days, got ${expression}.`)
  }
  return { intervalMs: Number(amount) * unitMs, function: lastPart(read('Target', 'Arn'), logicalId) }
}

function plainStateMachine({ names, read, logicalId }: NamedResource): PlainStateMachine {
  const values = (read('DefinitionSubstitutions') ?? {}) as Record<string, unknown>
  const definition = substitute(text(read('DefinitionString'), logicalId), (variable) =>
    text(values[variable], `${logicalId} (substitution ${variable})`),
  )
  return { arn: names.ref, definition: JSON.parse(definition) }
}

/** The word that each type of resource adds to its construct's path; a plain name omits the word. */
const typeWords: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'table',
  'AWS::S3::Bucket': 'bucket',
  'AWS::SQS::Queue': 'queue',
  'AWS::SecretsManager::Secret': 'secret',
  'AWS::Lambda::Function': 'function',
  'AWS::StepFunctions::StateMachine': 'machine',
}

/** CDK ends a logical id with eight digits of a hash of the construct's path. */
const logicalIdHash = /[0-9A-F]{8}$/

/** `InboxQueue96F60793` becomes `inbox.fifo`: a readable name, stable as long as the construct keeps its path. */
function plainName(logicalId: string, resource: TemplateResource): string {
  const words = logicalId
    .replace(logicalIdHash, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase()
  const name = words.replace(new RegExp(`-${typeWords[resource.Type]}$`), '')
  return resource.Type === 'AWS::SQS::Queue' && resource.Properties?.FifoQueue === true ? `${name}.fifo` : name
}

/** The values of `Ref` and `Fn::GetAtt`, for the types that the plain stack refers to. */
function namesOf(logicalId: string, resource: TemplateResource, account: Account): ResourceNames | undefined {
  const name = plainName(logicalId, resource)
  const { partition, region, accountId } = account
  const arn = (service: string, rest: string) => `arn:${partition}:${service}:${region}:${accountId}:${rest}`
  switch (resource.Type) {
    case 'AWS::DynamoDB::Table':
      return { ref: name, attributes: { Arn: arn('dynamodb', `table/${name}`) } }
    case 'AWS::S3::Bucket':
      return { ref: name, attributes: { Arn: `arn:${partition}:s3:::${name}` } }
    case 'AWS::SQS::Queue':
      return {
        ref: `https://sqs.${region}.amazonaws.com/${accountId}/${name}`,
        attributes: { Arn: arn('sqs', name), QueueName: name },
      }
    case 'AWS::SecretsManager::Secret':
      // Secrets Manager takes a name wherever it takes an ARN; the random end of a real ARN would be invented here.
      return { ref: name, attributes: {} }
    case 'AWS::Lambda::Function':
      return { ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } }
    case 'AWS::StepFunctions::StateMachine': {
      const machineArn = arn('states', `stateMachine:${name}`)
      return { ref: machineArn, attributes: { Arn: machineArn, Name: name } }
    }
    case 'AWS::ApiGatewayV2::Integration':
      return { ref: logicalId, attributes: {} }
    default:
      return undefined
  }
}

function onlyOne(type: string, resources: NamedResource[]): NamedResource {
  const [first, ...others] = resources
  if (first === undefined || others.length > 0)
    throw new Error(`The template must have one ${type}, got ${resources.length}.`)
  return first
}

function valueAt(value: unknown, keys: string[]): unknown {
  return keys.reduce<unknown>((outer, key) => (outer as Record<string, unknown> | undefined)?.[key], value)
}

/** Name at the end of an ARN, or a plain name. */
function lastPart(value: unknown, logicalId: string): string {
  const parts = text(value, logicalId).split(':')
  return parts[parts.length - 1] ?? ''
}

function text(value: unknown, logicalId: string): string {
  if (typeof value === 'string') return value
  throw new Error(`Expected text at ${logicalId}, got ${JSON.stringify(value)}.`)
}

function count(value: unknown, logicalId: string): number {
  if (typeof value === 'number') return value
  throw new Error(`Expected a number at ${logicalId}, got ${JSON.stringify(value)}.`)
}
