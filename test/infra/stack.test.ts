/** The synthesized template: what must hold of it, whatever else changes. */
import { beforeAll, describe, expect, test } from 'vitest'
import { roomNames } from '../../infra/rooms.ts'
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

  test('the indexes hold keys only, so that nothing can be decided by them', () => {
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

  test('the bucket and every queue refuse what does not come over TLS', () => {
    const policies = [...ofType(template, 'AWS::S3::BucketPolicy'), ...ofType(template, 'AWS::SQS::QueuePolicy')]
    expect(policies).toHaveLength(5)
    for (const [logicalId, policy] of policies) {
      const { Statement } = policy.Properties.PolicyDocument as { Statement: Properties[] }
      expect(Statement, logicalId).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Principal: { AWS: '*' },
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      )
    }
  })

  test('secrets are kept, and the template holds none', () => {
    const secrets = ofType(template, 'AWS::SecretsManager::Secret')
    expect(secrets).toHaveLength(2)
    for (const [logicalId, secret] of secrets) {
      expect(secret.DeletionPolicy, logicalId).toBe('Retain')
      expect(secret.Properties.SecretString, logicalId).toBeUndefined()
    }
  })

  test('AW86: nothing has a physical name, so that what is kept never blocks a deploy', () => {
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

  test('AW52: every queue invokes a limited number of functions, never more than are reserved', () => {
    const sources = ofType(template, 'AWS::Lambda::EventSourceMapping')
    expect(sources).toHaveLength(2)
    for (const [logicalId, { Properties: source }] of sources) {
      const maximum = (source.ScalingConfig as Properties | undefined)?.MaximumConcurrency
      expect(maximum, logicalId).toBeGreaterThanOrEqual(2)
      const reserved = properties(referenced(source.FunctionName)).ReservedConcurrentExecutions
      if (reserved !== undefined) expect(maximum, logicalId).toBeLessThanOrEqual(Number(reserved))
    }
  })

  test('AW53: a message stays hidden for six timeouts of the function that it invokes', () => {
    for (const [logicalId, { Properties: source }] of ofType(template, 'AWS::Lambda::EventSourceMapping')) {
      const visibilitySeconds = Number(properties(referenced(source.EventSourceArn)).VisibilityTimeout)
      const timeoutSeconds = Number(properties(referenced(source.FunctionName)).Timeout)
      expect(visibilitySeconds, logicalId).toBeGreaterThanOrEqual(6 * timeoutSeconds)
    }
  })

  test('a batch is answered message by message', () => {
    for (const [logicalId, { Properties: source }] of ofType(template, 'AWS::Lambda::EventSourceMapping')) {
      expect(source, logicalId).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] })
    }
  })

  test('they get names of their own only for an emulated AWS', async () => {
    const emulated = await synthesizeTemplate({ 'muster:physicalNames': 'true' })
    const names = ofType(emulated, 'AWS::SQS::Queue').map(([, { Properties }]) => Properties.QueueName)
    expect(names.sort()).toEqual([
      'muster-inbox-dead-letters.fifo',
      'muster-inbox.fifo',
      'muster-outbox-dead-letters.fifo',
      'muster-outbox.fifo',
    ])
  })
})

describe('functions', () => {
  const functions = () => ofType(template, 'AWS::Lambda::Function')

  test('there is one a room, and none else', () => {
    const names = functions().map(
      ([, { Properties }]) => (Properties.Environment as Environment).Variables.POWERTOOLS_SERVICE_NAME,
    )
    expect(names).toEqual([...roomNames])
  })

  test('they run on Node.js 24 by name, on arm64', () => {
    for (const [logicalId, { Properties: lambda }] of functions()) {
      expect(lambda, logicalId).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      })
    }
  })

  test('an environment names secrets, and holds none', () => {
    for (const [logicalId, { Properties: lambda }] of functions()) {
      const { Variables } = lambda.Environment as Environment
      for (const [name, value] of Object.entries(Variables)) {
        if (/SECRET|KEY|TOKEN|PASSWORD/.test(name)) {
          expect(template.Resources[referenced(value) ?? '']?.Type, `${logicalId} ${name}`).toBe(
            'AWS::SecretsManager::Secret',
          )
        }
        expect(JSON.stringify(value), `${logicalId} ${name}`).not.toContain('{{resolve:')
      }
    }
  })

  test('the webhook is answered before GitHub gives up on it', () => {
    const integrations = ofType(template, 'AWS::ApiGatewayV2::Integration').map(([, { Properties }]) => Properties)
    for (const integration of integrations) {
      expect(integration).toMatchObject({ PayloadFormatVersion: '2.0', TimeoutInMillis: 10_000 })
    }
  })

  test('everybody may send a webhook, which its signature then vouches for; only IAM lets programs ask', () => {
    const routes = ofType(template, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => Properties)
    expect(Object.fromEntries(routes.map(({ RouteKey, AuthorizationType }) => [RouteKey, AuthorizationType]))).toEqual({
      'POST /github/webhook': 'NONE',
      'GET /runs/{runId}': 'AWS_IAM',
    })
  })

  test('the sweep ends before the next one starts, and is not repeated', () => {
    const { Target, ScheduleExpression } = only('AWS::Scheduler::Schedule').Properties as {
      Target: Properties
    } & Properties
    expect(ScheduleExpression).toBe('rate(1 minute)')
    expect(Target.RetryPolicy).toMatchObject({ MaximumRetryAttempts: 0 })
    expect(properties(referenced(Target.Arn)).Timeout).toBeLessThan(60)
    expect(only('AWS::Lambda::EventInvokeConfig').Properties.MaximumRetryAttempts).toBe(0)
  })
})

describe('the machine and the logs', () => {
  test('the machine is Standard, traced, and logs no data of a run', () => {
    expect(only('AWS::StepFunctions::StateMachine').Properties).toMatchObject({
      StateMachineType: 'STANDARD',
      LoggingConfiguration: { IncludeExecutionData: false },
      TracingConfiguration: { Enabled: true },
    })
  })

  test('the log of the gateway holds neither body nor query nor caller', () => {
    const { AccessLogSettings } = only('AWS::ApiGatewayV2::Stage').Properties as { AccessLogSettings: Properties }
    expect(AccessLogSettings.Format).not.toMatch(/body|query|sourceIp|header/i)
  })

  test('every log is kept for a limited time', () => {
    const logs = ofType(template, 'AWS::Logs::LogGroup')
    expect(logs).toHaveLength(roomNames.length + 2)
    for (const [logicalId, { Properties: log }] of logs) expect(log.RetentionInDays, logicalId).toBe(30)
  })

  test('dead letters, failed executions and lost webhooks raise an alarm', () => {
    const metrics = ofType(template, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties.MetricName)
    expect(metrics.sort()).toEqual([
      '5xx',
      'ApproximateNumberOfMessagesVisible',
      'ApproximateNumberOfMessagesVisible',
      'ExecutionsFailed',
    ])
  })

  test('no output is a secret', () => {
    for (const [name, { Value }] of Object.entries(template.Outputs)) {
      expect(JSON.stringify(Value), name).not.toContain('{{resolve:')
    }
  })
})

describe('the context', () => {
  test('another GitHub and a model reach the rooms that use them', async () => {
    const configured = await synthesizeTemplate({
      'muster:githubApiUrl': 'https://github.example/api/v3/',
      'muster:modelDefault': 'some-model',
      'muster:modelBaseUrl': 'https://models.example/v1',
    })
    const variables = Object.fromEntries(
      ofType(configured, 'AWS::Lambda::Function').map(([, { Properties }]) => {
        const { Variables } = Properties.Environment as Environment
        return [Variables.POWERTOOLS_SERVICE_NAME, Variables]
      }),
    )
    expect(variables.post).toMatchObject({ GITHUB_API_URL: 'https://github.example/api/v3' })
    expect(variables.plan).toMatchObject({ MODEL_DEFAULT: 'some-model', MODEL_BASE_URL: 'https://models.example/v1' })
  })

  test('every wrong value is named, with what is allowed', async () => {
    const wrong = synthesizeTemplate({
      'muster:githubApiUrl': 'github.example',
      'muster:logRetentionDays': '31',
      'muster:physicalNames': 'maybe',
    })
    await expect(wrong).rejects.toThrow(
      /muster:githubApiUrl must be an http or https URL.*muster:logRetentionDays must be one of 1, 3, 5.*muster:physicalNames must be true or false/,
    )
  })
})

interface Environment {
  readonly Variables: Readonly<Record<string, unknown>>
}
