/**
 * The whole stack on one machine, in one process: the services on loopback, the synthesized state machine, the
 * functions' bundles, their queues and their schedule. Functions find the services by the SDK's own variables only.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { CreateSecretCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { startApi } from './api.ts'
import { type Assembly, loadAssembly } from './assembly.ts'
import { type AppCredentials, standInCredentials } from './credentials.ts'
import { startDynamoDb } from './dynamodb/dynamodb.ts'
import { startEventSource } from './event-source.ts'
import { type LocalFunctions, startFunctions } from './functions/functions.ts'
import { type GitHubStandIn, startGitHub } from './github/github.ts'
import { startS3 } from './s3/s3.ts'
import { startSchedules } from './schedules.ts'
import { startSecrets } from './secrets/secrets.ts'
import { startSqs } from './sqs/sqs.ts'
import { startStepFunctions } from './stepfunctions/stepfunctions.ts'

export interface LocalStackOptions {
  /** Folder of all state that survives a restart; one process at a time. */
  readonly directory: string
  /** Folder of the kept assemblies. */
  readonly cacheDirectory: string
  /** Port of the HTTP API; 0 or absent takes any free port. */
  readonly port?: number
  /** A real GitHub; absent: the stand-in over local repositories. */
  readonly github?: { readonly apiUrl: string; readonly credentials: AppCredentials }
  /** An OpenAI-compatible endpoint for model lenses; absent: none is configured. */
  readonly model?: { readonly baseUrl: string; readonly model: string; readonly apiKey?: string }
  /** Lease of a review, s; a shorter lease than deployed speeds the schedules up by the same factor. */
  readonly leaseSeconds?: number
  /** How long a review waits for a throttled model in all, min; absent: as deployed. */
  readonly patienceMinutes?: number
  /** Gets every line that a function prints. */
  readonly onLog?: (functionName: string, line: string) => void
}

export interface LocalStack {
  readonly assembly: Assembly
  /** Base URL of the HTTP API. */
  readonly apiUrl: string
  readonly webhookUrl: string
  /** Undefined with a real GitHub. */
  readonly github: GitHubStandIn | undefined
  /** The endpoints under the names of the SDK's variables. */
  readonly endpoints: Readonly<Record<string, string>>
  readonly functions: LocalFunctions
  /** The number of states that an execution has entered. */
  transitions(executionArn: string): number
  /** Ends all services; unfinished work continues at the next start. Repeatable. */
  close(): Promise<void>
}

/** Seconds of a lease on one machine: a killed process is missed after half a minute, not after three. */
const LEASE_SECONDS_DEFAULT = 30
/** A deployment's lease, s, which the one-minute schedule fits. */
const LEASE_SECONDS_DEPLOYED = 180
/** The longest wait for an active table, and the interval of the checks, s: a local table takes milliseconds. */
const TABLE_WAIT_SECONDS = { maxWaitTime: 20, minDelay: 0.02, maxDelay: 0.5 }
/** Concurrent invocations of a function without a limit of its own: two cores serve no more. */
const CONCURRENCY_MAX = 4
/** The services accept any credentials; the SDK refuses to run without some. */
const AWS_IDENTITY = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' }

/** Starts the stack and resumes unfinished work. Rejects with a clear error if the state or the port is in use. */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    return await start(options, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  options: LocalStackOptions,
  closers: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<LocalStack> {
  const { directory } = options
  const at = (name: string) => path.join(directory, name)
  await mkdir(directory, { recursive: true })
  const opened = <Service extends { close(): Promise<void> }>(service: Service): Service => {
    closers.push(() => service.close())
    return service
  }
  // The table first: its lock on the folder stops a second process here.
  const dynamoDb = opened(await startDynamoDb({ directory: at('table') }))
  const assembly = await loadAssembly({ cacheDirectory: options.cacheDirectory })
  const [machine] = assembly.stateMachines
  if (!machine) throw new Error('The stack has no state machine.')

  const credentials = options.github?.credentials ?? (await standInCredentials(at('app.json')))
  const [webhookSecret = ''] = credentials.webhookSecrets
  const sqs = opened(await startSqs({ file: at('queues.sqlite'), consumersWithin: true }))
  const s3 = opened(await startS3({ directory: at('documents') }))
  const secrets = opened(await startSecrets({ file: at('secrets.json') }))
  const github = options.github
    ? undefined
    : opened(
        await startGitHub({
          directory: at('github'),
          app: { id: credentials.appId, slug: 'muster', privateKey: credentials.privateKey, webhookSecret },
        }),
      )

  let functions: LocalFunctions | undefined
  const invoke = (name: string, event: unknown, signal?: AbortSignal) => {
    if (!functions) throw new Error('A function was invoked before the functions were started.')
    return functions.invoke(name, event, signal)
  }
  const stepFunctions = opened(await startStepFunctions({ directory: at('executions'), machines: [machine], invoke }))
  const endpoints = {
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.url,
    AWS_ENDPOINT_URL_SQS: sqs.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ENDPOINT_URL_SFN: stepFunctions.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
  }
  const region = assembly.account.region
  const client = { region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  await createTable(new DynamoDBClient({ ...client, endpoint: dynamoDb.url }), assembly)
  const queueClient = new SQSClient({ ...client, endpoint: sqs.url })
  closers.push(async () => queueClient.destroy())
  const queueUrls = await createQueues(queueClient, assembly)
  await putSecrets(new SecretsManagerClient({ ...client, endpoint: secrets.url }), assembly, {
    app: credentials,
    models: options.model?.apiKey ? { apiKey: options.model.apiKey } : {},
  })

  const leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS_DEFAULT
  const overrides = {
    ...AWS_IDENTITY,
    AWS_REGION: region,
    ...endpoints,
    // Half the memory and time of a cold start, once the first cold start has filled the cache.
    NODE_COMPILE_CACHE: path.join(options.cacheDirectory, 'compiled'),
    LEASE_SECONDS: String(leaseSeconds),
    ...(options.patienceMinutes === undefined ? {} : { PATIENCE_MINUTES: String(options.patienceMinutes) }),
    GITHUB_API_URL: options.github?.apiUrl ?? github?.url ?? '',
    ...(options.model ? { MODEL_BASE_URL: options.model.baseUrl, MODEL_DEFAULT: options.model.model } : {}),
  }
  functions = opened(
    startFunctions(
      assembly.functions.map((each) => ({
        name: each.name,
        arn: each.arn,
        bundle: path.join(each.bundle, 'index.mjs'),
        handler: each.handler.slice(each.handler.indexOf('.') + 1),
        environment: environmentOf(each.environment, queueUrls, overrides),
        timeoutMs: each.timeoutMs,
        concurrencyMax: each.reservedConcurrency ?? CONCURRENCY_MAX,
      })),
      options.onLog ? { onLog: options.onLog } : {},
    ),
  )
  // Executions end their calls before the functions stop.
  opened(stepFunctions)
  const onError = (error: unknown) => options.onLog?.('muster', error instanceof Error ? error.message : String(error))
  for (const source of assembly.eventSources) {
    const queue = assembly.queues.find(({ name }) => name === source.queue)
    const queueUrl = queueUrls.get(queue?.url ?? '')
    if (!queue || !queueUrl) throw new Error(`The event source of ${source.function} has no queue.`)
    opened(startEventSource({ client: queueClient, queueUrl, queueArn: queue.arn, source, invoke, onError }))
  }
  opened(startSchedules(assembly.schedules, { speed: LEASE_SECONDS_DEPLOYED / leaseSeconds, invoke, onError }))
  const api = opened(
    await startApi({ routes: assembly.routes, invoke, ...(options.port === undefined ? {} : { port: options.port }) }),
  )
  const webhookUrl = `${api.url}/github/webhook`
  await stepFunctions.resume()
  github?.setWebhookUrl(webhookUrl)
  return {
    assembly,
    apiUrl: api.url,
    webhookUrl,
    github,
    endpoints,
    functions,
    transitions: (executionArn) => stepFunctions.transitions(executionArn),
    close,
  }
}

/** A queue's URL in the template is a placeholder for the URL of the local queue. */
function environmentOf(
  environment: Readonly<Record<string, string>>,
  queueUrls: ReadonlyMap<string, string>,
  overrides: Readonly<Record<string, string>>,
): Record<string, string> {
  const own = Object.entries(environment).map(([name, value]) => [name, queueUrls.get(value) ?? value])
  return { ...Object.fromEntries(own), ...overrides }
}

/** Makes the table, unless an earlier process has made it. */
async function createTable(client: DynamoDBClient, { table }: Assembly): Promise<void> {
  try {
    await client
      .send(new CreateTableCommand(table.createTable as ConstructorParameters<typeof CreateTableCommand>[0]))
      .catch((error: Error) => {
        if (error.name !== 'ResourceInUseException') throw error
      })
    // As on AWS, CreateTable is answered before the table is usable.
    await waitUntilTableExists({ client, ...TABLE_WAIT_SECONDS }, { TableName: table.name })
  } finally {
    client.destroy()
  }
}

/** The local URLs of the queues, by the URL in the template. */
async function createQueues(client: SQSClient, { queues }: Assembly): Promise<Map<string, string>> {
  const urls = new Map<string, string>()
  for (const { name, url, attributes } of queues) {
    const { QueueUrl = '' } = await client.send(
      new CreateQueueCommand({ QueueName: name, Attributes: { ...attributes } }),
    )
    urls.set(url, QueueUrl)
  }
  return urls
}

async function putSecrets(
  client: SecretsManagerClient,
  { secrets }: Assembly,
  values: { app: AppCredentials; models: { apiKey?: string } },
): Promise<void> {
  try {
    for (const { name } of secrets) {
      const SecretString = JSON.stringify(/model/i.test(name) ? values.models : values.app)
      await client.send(new CreateSecretCommand({ Name: name, SecretString })).catch(async (error: Error) => {
        if (error.name !== 'ResourceExistsException') throw error
        await client.send(new PutSecretValueCommand({ SecretId: name, SecretString }))
      })
    }
  } finally {
    client.destroy()
  }
}
