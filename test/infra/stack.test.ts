/** The synthesized template: the lasting rules for every change. */
import { beforeAll, describe, expect, test } from 'vitest'
import { roomNames } from '../../infra/rooms.ts'
import { reviewableText } from './reviewable.ts'
import { ofType, type Properties, referenced, type SynthesizedTemplate, synthesizeTemplate } from './synthesized.ts'

let template: SynthesizedTemplate

beforeAll(async () => {
  template = await synthesizeTemplate()
})

function properties(logicalId: string | undefined): Properties {
  const resource = template.Resources[logicalId ?? '']
  if (resource === undefined) throw new Error(`The template has no resource ${logicalId}`)
  return resource.Properties
}

function only(type: string) {
  const resources = ofType(template, type)
  expect(resources, type).toHaveLength(1)
  const [first] = resources
  if (first === undefined) throw new Error(`no ${type}`)
  return first[1]
}

describe('data', () => {
  test('AW85: the table is kept on deletion and on replacement, protected and recoverable', () => {
    const table = only('AWS::DynamoDB::Table')
    expect(table).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      },
    })
  })

  test('the indexes hold keys only: no decision can rest on an index', () => {
    const indexes = only('AWS::DynamoDB::Table').Properties.GlobalSecondaryIndexes as Properties[]
    const keys = indexes.map(({ IndexName, KeySchema }) => [
      IndexName,
      ...(KeySchema as Properties[]).map(({ AttributeName }) => AttributeName),
    ])
    expect(keys).toEqual([
      ['due', 'duePk', 'dueAt'],
      ['listed', 'listedPk', 'listedAt'],
    ])
    for (const index of indexes) expect(index.Projection).toEqual({ ProjectionType: 'KEYS_ONLY' })
    expect(only('AWS::DynamoDB::Table').Properties.AttributeDefinitions).toEqual(
      expect.arrayContaining([
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
        { AttributeName: 'duePk', AttributeType: 'S' },
        { AttributeName: 'dueAt', AttributeType: 'N' },
        { AttributeName: 'listedPk', AttributeType: 'S' },
        { AttributeName: 'listedAt', AttributeType: 'S' },
      ]),
    )
  })

  test('the documents are private, encrypted and kept', () => {
    expect(only('AWS::S3::Bucket')).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      },
    })
  })

  test('AW86: nothing has a physical name: a kept resource never blocks a deploy', () => {
    const named = [
      'TableName',
      'QueueName',
      'StateMachineName',
      'BucketName',
      'FunctionName',
      'LogGroupName',
      'RoleName',
    ]
    for (const [logicalId, resource] of Object.entries(template.Resources)) {
      if (resource.Type === 'AWS::Lambda::EventSourceMapping' || resource.Type === 'AWS::Lambda::Permission') continue
      if (resource.Type === 'AWS::Lambda::EventInvokeConfig') continue
      for (const name of named) expect(resource.Properties[name], `${logicalId}.${name}`).toBeUndefined()
    }
    for (const [logicalId, { Properties }] of ofType(template, 'AWS::SecretsManager::Secret')) {
      expect(Properties.Name, logicalId).toBeUndefined()
    }
  })
})

describe('queues', () => {
  test('both are FIFO and encrypted, and have dead letters that wait for 14 days', () => {
    const queues = ofType(template, 'AWS::SQS::Queue')
    const fed = queues.filter(([, { Properties }]) => Properties.RedrivePolicy !== undefined)
    expect(queues).toHaveLength(4)
    expect(fed).toHaveLength(2)
    for (const [logicalId, { Properties: queue }] of queues) {
      expect(queue, logicalId).toMatchObject({ FifoQueue: true, SqsManagedSseEnabled: true })
    }
    for (const [logicalId, { Properties: queue }] of fed) {
      const { deadLetterTargetArn, maxReceiveCount } = queue.RedrivePolicy as Properties
      expect(maxReceiveCount, logicalId).toBe(5)
      expect(properties(referenced(deadLetterTargetArn)).MessageRetentionPeriod, logicalId).toBe(14 * 24 * 60 * 60)
    }
  })

  test('AW52, AW53: a message stays hidden for six timeouts of its function, and few invocations work at once', () => {
    const triples = ofType(template, 'AWS::Lambda::EventSourceMapping').map(([, { Properties: source }]) => {
      const queue = properties(referenced(source.EventSourceArn))
      const consumer = properties(referenced(source.FunctionName))
      return {
        room: (consumer.Environment as Environment).Variables.POWERTOOLS_SERVICE_NAME,
        timeoutSeconds: consumer.Timeout,
        hiddenSeconds: queue.VisibilityTimeout,
        receives: (queue.RedrivePolicy as Properties).maxReceiveCount,
        atOnce: (source.ScalingConfig as Properties).MaximumConcurrency,
        reserved: consumer.ReservedConcurrentExecutions,
      }
    })
    expect(triples).toEqual([
      { room: 'command', timeoutSeconds: 60, hiddenSeconds: 360, receives: 5, atOnce: 10, reserved: undefined },
      { room: 'post', timeoutSeconds: 60, hiddenSeconds: 360, receives: 5, atOnce: 10, reserved: undefined },
    ])
    for (const { timeoutSeconds, hiddenSeconds } of triples) {
      expect(hiddenSeconds).toBeGreaterThanOrEqual(6 * Number(timeoutSeconds))
    }
  })

  test('an invocation is for one message, and reports its failures instead of an exception', () => {
    for (const [logicalId, { Properties: source }] of ofType(template, 'AWS::Lambda::EventSourceMapping')) {
      expect(source, logicalId).toMatchObject({ BatchSize: 1, FunctionResponseTypes: ['ReportBatchItemFailures'] })
    }
  })
})

describe('functions', () => {
  const functions = () => ofType(template, 'AWS::Lambda::Function')

  test('each room has a function, and no other function exists', () => {
    const names = functions().map(
      ([, { Properties }]) => (Properties.Environment as Environment).Variables.POWERTOOLS_SERVICE_NAME,
    )
    expect(names).toEqual([...roomNames])
  })

  test('the functions run on Node.js 24 by name, on arm64', () => {
    for (const [logicalId, { Properties: lambda }] of functions()) {
      expect(lambda, logicalId).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      })
    }
  })

  test('the webhook is answered before GitHub gives up', () => {
    const integrations = ofType(template, 'AWS::ApiGatewayV2::Integration').map(([, { Properties }]) => Properties)
    for (const integration of integrations) {
      const timeoutMs = JSON.stringify(integration.IntegrationUri).includes('Webhook') ? 10_000 : 29_000
      expect(integration).toMatchObject({ PayloadFormatVersion: '2.0', TimeoutInMillis: timeoutMs })
    }
    expect(integrations).toHaveLength(2)
  })

  test('everybody may send a webhook, whose signature proves its sender; only IAM lets programs in', () => {
    const routes = ofType(template, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => Properties)
    expect(Object.fromEntries(routes.map(({ RouteKey, AuthorizationType }) => [RouteKey, AuthorizationType]))).toEqual({
      'POST /github/webhook': 'NONE',
      'GET /runs/{runId}': 'AWS_IAM',
      'POST /runs/{runId}/cancel': 'AWS_IAM',
      'POST /runs/{runId}/retry': 'AWS_IAM',
      'GET /fleet': 'AWS_IAM',
      'PATCH /fleet/limits': 'AWS_IAM',
      'GET /halts/{scope+}': 'AWS_IAM',
      'PUT /halts/{scope+}': 'AWS_IAM',
      'DELETE /halts/{scope+}': 'AWS_IAM',
    })
  })

  test('the sweep ends before the next sweep starts, and is not repeated', () => {
    const { Target, ScheduleExpression } = only('AWS::Scheduler::Schedule').Properties as {
      Target: Properties
    } & Properties
    expect(ScheduleExpression).toBe('rate(1 minute)')
    expect(Target.RetryPolicy).toMatchObject({ MaximumRetryAttempts: 0 })
    expect(properties(referenced(Target.Arn)).Timeout).toBeLessThan(60)
    expect(only('AWS::Lambda::EventInvokeConfig').Properties.MaximumRetryAttempts).toBe(0)
  })
})

describe('the machine', () => {
  test('the machine is Standard, traced, and logs no data of a run', () => {
    expect(only('AWS::StepFunctions::StateMachine').Properties).toMatchObject({
      StateMachineType: 'STANDARD',
      LoggingConfiguration: { IncludeExecutionData: false },
      TracingConfiguration: { Enabled: true },
    })
  })
})

describe('the context', () => {
  let functions: Readonly<Record<string, Properties>>

  beforeAll(async () => {
    const configured = await synthesizeTemplate({
      'muster:githubApiUrl': 'https://github.example/api/v3/',
      'muster:modelDefault': 'some-model',
      'muster:modelBaseUrl': 'https://models.example/v1',
      'muster:reservedConcurrency.post': '12',
      'muster:reservedConcurrency.review': 40,
    })
    functions = Object.fromEntries(
      ofType(configured, 'AWS::Lambda::Function').map(([, { Properties }]) => [
        (Properties.Environment as Environment).Variables.POWERTOOLS_SERVICE_NAME,
        Properties,
      ]),
    )
  })

  test('another GitHub and a model reach their rooms', () => {
    expect(functions.post?.Environment).toMatchObject({
      Variables: { GITHUB_API_URL: 'https://github.example/api/v3' },
    })
    expect(functions.plan?.Environment).toMatchObject({
      Variables: { MODEL_DEFAULT: 'some-model', MODEL_BASE_URL: 'https://models.example/v1' },
    })
  })

  test('a function has reserved concurrency where named, and none by default', () => {
    const reserved = Object.entries(functions).map(([room, lambda]) => [room, lambda.ReservedConcurrentExecutions])
    expect(Object.fromEntries(reserved.filter(([, value]) => value !== undefined))).toEqual({ post: 12, review: 40 })
    for (const [logicalId, { Properties: lambda }] of ofType(template, 'AWS::Lambda::Function')) {
      expect(lambda.ReservedConcurrentExecutions, logicalId).toBeUndefined()
    }
  })
})

/** After an intended change: `npx vitest run test/infra/stack.test.ts -u`, and a review of the difference. */
test('the template equals the reviewed template', async () => {
  await expect(reviewableText(template)).toMatchFileSnapshot('template.snapshot.yaml')
})

interface Environment {
  readonly Variables: Readonly<Record<string, unknown>>
}
