/** The template under a security review: the AWS Solutions rules, encryption, access, and secrets. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Acknowledgement, acknowledgements } from '../../infra/acknowledged.ts'
import { addSecurityChecks } from '../../infra/security-checks.ts'
import {
  objectsIn,
  ofType,
  type Properties,
  referenced,
  type SynthesizedTemplate,
  synthesizeTemplate,
  withStack,
} from './synthesized.ts'

/** Every option of a deployment, so that the review covers all optional resources. */
const everything = { 'muster:alarmEmail': 'operators@example.com', 'muster:reservedConcurrency.webhook': '20' }

let template: SynthesizedTemplate

beforeAll(async () => {
  template = await synthesizeTemplate(everything)
})

describe('the AWS Solutions rules', () => {
  /** `<rule> at <construct>` for each unacknowledged finding, in order. */
  const findings = (acknowledged: readonly Acknowledgement[], context: Properties = {}) =>
    withStack(context, (app, stack) =>
      addSecurityChecks(app, stack, acknowledged)
        .validateScope(app)
        .violations.flatMap(({ ruleName, violatingResources }) =>
          violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`),
        )
        .sort(),
    )

  test('the rules find nothing unacknowledged, whatever a deployment switches on', async () => {
    expect(await findings(acknowledgements)).toEqual([])
    expect(await findings(acknowledgements, everything)).toEqual([])
  })

  test('the rules still find each acknowledged finding at its construct', async () => {
    const answered = acknowledgements.flatMap(({ id, at }) => at.map((path) => `${id} at Muster/${path}`))
    expect(await findings([])).toEqual(answered.sort())
  })

  test('each finding is acknowledged with a reason of substance, each with its own', () => {
    for (const { id, subject, reason } of acknowledgements) {
      expect(reason.split(/\s+/).length, `${id} for ${subject}`).toBeGreaterThanOrEqual(10)
    }
    expect(new Set(acknowledgements.map(({ reason }) => reason)).size).toBe(acknowledgements.length)
  })

  test('an acknowledgement of an absent construct is refused', async () => {
    const stale: Acknowledgement = { id: 'AwsSolutions-S1', subject: 'a bucket', at: ['Gone/Bucket'], reason: 'None.' }
    await expect(findings([stale])).rejects.toThrow('AwsSolutions-S1 is acknowledged at Gone/Bucket')
  })
})

describe('at rest', () => {
  test('every store of data is encrypted, explicitly', () => {
    const encrypted: Readonly<Record<string, (properties: Properties) => unknown>> = {
      'AWS::DynamoDB::Table': ({ SSESpecification }) => (SSESpecification as Properties | undefined)?.SSEEnabled,
      'AWS::S3::Bucket': ({ BucketEncryption }) => BucketEncryption !== undefined,
      'AWS::SQS::Queue': ({ SqsManagedSseEnabled }) => SqsManagedSseEnabled,
      'AWS::SNS::Topic': ({ KmsMasterKeyId }) => KmsMasterKeyId !== undefined,
      'AWS::KMS::Key': ({ EnableKeyRotation }) => EnableKeyRotation,
    }
    for (const [type, isEncrypted] of Object.entries(encrypted)) {
      const resources = ofType(template, type)
      expect(resources.length, type).toBeGreaterThan(0)
      for (const [logicalId, { Properties }] of resources) expect(isEncrypted(Properties), logicalId).toBe(true)
    }
  })

  test('AW85: every type of resource has a decision to keep or delete, for replacement as for deletion', () => {
    const policies = Object.values(template.Resources).flatMap(({ Type, DeletionPolicy, UpdateReplacePolicy }) =>
      DeletionPolicy === undefined && UpdateReplacePolicy === undefined
        ? []
        : [`${Type}: ${DeletionPolicy} and ${UpdateReplacePolicy}`],
    )
    expect([...new Set(policies)].sort()).toEqual([
      'AWS::DynamoDB::Table: Retain and Retain',
      'AWS::KMS::Key: Delete and Delete',
      'AWS::Logs::LogGroup: Delete and Delete',
      'AWS::S3::Bucket: Retain and Retain',
      'AWS::SQS::Queue: Delete and Delete',
      'AWS::SecretsManager::Secret: Retain and Retain',
      'AWS::StepFunctions::StateMachine: Delete and Delete',
    ])
  })
})

describe('access', () => {
  const statements = () =>
    Object.entries(template.Resources).flatMap(([logicalId, { Properties }]) =>
      objectsIn(Properties).flatMap(({ object }) =>
        'Effect' in object && 'Principal' in object ? [{ logicalId, statement: object }] : [],
      ),
    )

  test('no policy allows anything for everybody', () => {
    const open = statements().filter(({ statement: { Principal } }) => JSON.stringify(Principal).includes('"*"'))
    expect(open.length).toBeGreaterThan(0)
    for (const { logicalId, statement } of open) expect(statement.Effect, logicalId).toBe('Deny')
  })

  test('the bucket, every queue and the topic refuse requests without TLS, from everybody and for everything', () => {
    const policies = ['AWS::S3::BucketPolicy', 'AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy'].flatMap((type) =>
      ofType(template, type),
    )
    const guarded = ['AWS::S3::Bucket', 'AWS::SQS::Queue', 'AWS::SNS::Topic'].flatMap((type) => ofType(template, type))
    expect(policies).toHaveLength(guarded.length)
    for (const [logicalId, { Properties }] of policies) {
      const { Statement } = Properties.PolicyDocument as { Statement: Properties[] }
      const denial = Statement.find(({ Effect }) => Effect === 'Deny')
      expect(denial?.Condition, logicalId).toEqual({ Bool: { 'aws:SecureTransport': 'false' } })
      expect(JSON.stringify(denial?.Principal), logicalId).toMatch(/^(\{"AWS":"\*"\}|"\*")$/)
      const everyAction = /^(s3|sqs):\*$/.test(String(denial?.Action)) || denial?.Action === 'sns:Publish'
      expect(everyAction, `${logicalId}: ${denial?.Action}`).toBe(true)
    }
  })

  test('only this account’s gateway and the roles of the machine and the schedule invoke a function, and no function has a URL', () => {
    expect(ofType(template, 'AWS::Lambda::Url')).toEqual([])
    for (const [logicalId, { Properties }] of ofType(template, 'AWS::Lambda::Permission')) {
      expect(Properties, logicalId).toMatchObject({
        Action: 'lambda:InvokeFunction',
        Principal: 'apigateway.amazonaws.com',
        SourceArn: expect.anything(),
      })
    }
  })

  test('the schedule’s role may invoke the sweep and nothing else, and serves this account only', () => {
    const [roleId, role] = ofType(template, 'AWS::IAM::Role').find(([id]) => id.startsWith('EveryMinuteRole')) ?? []
    expect(role?.Properties.AssumeRolePolicyDocument).toMatchObject({
      Statement: [
        {
          Principal: { Service: 'scheduler.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        },
      ],
    })
    const allowances = ofType(template, 'AWS::IAM::Policy')
      .filter(([, { Properties }]) => (Properties.Roles as unknown[]).some((each) => referenced(each) === roleId))
      .flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Properties[] }).Statement)
    expect(allowances).toHaveLength(1)
    expect(allowances[0]?.Action).toBe('lambda:InvokeFunction')
    expect(referenced(allowances[0]?.Resource)).toMatch(/^SweepFunction/)
  })

  test('every route takes a limited number of requests', () => {
    const [[, stage] = []] = ofType(template, 'AWS::ApiGatewayV2::Stage')
    expect(stage?.Properties.DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 100, ThrottlingBurstLimit: 500 })
  })
})

describe('secrets', () => {
  test('no value in the template is a secret, resolves to a secret, or is a parameter for a secret', () => {
    expect(JSON.stringify(template)).not.toContain('{{resolve:')
    expect(Object.keys((template as { Parameters?: object }).Parameters ?? {})).toEqual(['BootstrapVersion'])
    for (const { at, object } of objectsIn(template.Resources)) {
      expect(Object.keys(object), at).not.toContain('SecretString')
    }
  })

  test('an environment and an output name a secret, and hold none', () => {
    const values = [
      ...ofType(template, 'AWS::Lambda::Function').flatMap(([logicalId, { Properties }]) =>
        Object.entries((Properties.Environment as { Variables: Properties }).Variables).map(
          ([name, value]) => [`${logicalId} ${name}`, value] as const,
        ),
      ),
      ...Object.entries(template.Outputs).map(([name, { Value }]) => [name, Value] as const),
    ]
    const secretive = values.filter(([name]) => /SECRET|KEY|TOKEN|PASSWORD/i.test(name))
    expect(secretive.length).toBeGreaterThan(0)
    for (const [name, value] of secretive) {
      expect(value, name).toHaveProperty('Ref')
      expect(template.Resources[referenced(value) ?? '']?.Type, name).toBe('AWS::SecretsManager::Secret')
    }
  })
})

describe('logs', () => {
  test('every log is kept for a limited time, and every function and the machine write to such a log', () => {
    const logs = ofType(template, 'AWS::Logs::LogGroup')
    for (const [logicalId, { Properties }] of logs) expect(Properties.RetentionInDays, logicalId).toBe(30)
    const logIds = logs.map(([logicalId]) => logicalId)
    for (const [logicalId, { Properties }] of ofType(template, 'AWS::Lambda::Function')) {
      expect(logIds, logicalId).toContain(referenced((Properties.LoggingConfig as Properties).LogGroup))
    }
  })

  test('AW91: no log holds a payload: not the machine’s, not the gateway’s, not a function’s', () => {
    const [[, machine] = []] = ofType(template, 'AWS::StepFunctions::StateMachine')
    expect(machine?.Properties.LoggingConfiguration).toMatchObject({ IncludeExecutionData: false })
    const formats = ofType(template, 'AWS::ApiGatewayV2::Stage').map(
      ([, { Properties }]) => (Properties.AccessLogSettings as { Format: string }).Format,
    )
    expect(formats.flatMap((format) => Object.values(JSON.parse(format))).sort()).toEqual([
      '$context.error.message',
      '$context.requestId',
      '$context.requestTime',
      '$context.routeKey',
      '$context.status',
    ])
    for (const { at, object } of objectsIn(template.Resources)) {
      expect(Object.keys(object), at).not.toContain('POWERTOOLS_LOGGER_LOG_EVENT')
    }
  })
})
