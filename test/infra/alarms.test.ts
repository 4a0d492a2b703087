/** The alarms of the template: metric, condition and receiver of each. */
import { beforeAll, describe, expect, test } from 'vitest'
import { sweepMetrics } from '../../infra/alarms.ts'
import { ofType, type Properties, referenced, type SynthesizedTemplate, synthesizeTemplate } from './synthesized.ts'

let silent: SynthesizedTemplate
let mailing: SynthesizedTemplate

beforeAll(async () => {
  silent = await synthesizeTemplate()
  mailing = await synthesizeTemplate({ 'muster:alarmEmail': 'operators@example.com' })
})

function alarms(template: SynthesizedTemplate): Record<string, Properties> {
  return Object.fromEntries(
    ofType(template, 'AWS::CloudWatch::Alarm').map(([logicalId, { Properties }]) => [
      logicalId.replace(/^Alarms|[0-9A-F]{8}$/g, ''),
      Properties,
    ]),
  )
}

describe('an alarm is raised', () => {
  const any = { Threshold: 0, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' }
  const sweep = (name: string, unit: string) => ({ Namespace: 'Muster', MetricName: name, Unit: unit, Period: 300 })

  test.each([
    [
      'on any dead letter of the inbox',
      'InboxDeadLetters',
      { ...any, MetricName: 'ApproximateNumberOfMessagesVisible' },
    ],
    [
      'on any dead letter of the outbox',
      'OutboxDeadLetters',
      { ...any, MetricName: 'ApproximateNumberOfMessagesVisible' },
    ],
    ['on any execution that failed', 'ExecutionsFailed', { ...any, MetricName: 'ExecutionsFailed' }],
    ['on any webhook that may be lost', 'WebhookServerErrors', { ...any, MetricName: '5xx', Statistic: 'Sum' }],
    [
      'when what is due is ten minutes late, or nobody sweeps',
      'OldestDue',
      {
        ...sweep('OldestDueAge', 'Milliseconds'),
        Statistic: 'Maximum',
        Threshold: 600_000,
        EvaluationPeriods: 2,
        TreatMissingData: 'breaching',
      },
    ],
    [
      'when taking up fails for a quarter of an hour',
      'DueFailing',
      { ...sweep('DueFailed', 'Count'), Statistic: 'Sum', Threshold: 0, EvaluationPeriods: 3 },
    ],
  ])('%s', (_when, id, expected) => {
    expect(alarms(silent)[id]).toMatchObject({ ComparisonOperator: 'GreaterThanThreshold', ...expected })
  })

  test('no other alarm exists, and each names its remedy', () => {
    expect(Object.keys(alarms(silent)).sort()).toEqual([
      'DueFailing',
      'ExecutionsFailed',
      'InboxDeadLetters',
      'OldestDue',
      'OutboxDeadLetters',
      'WebhookServerErrors',
    ])
    for (const [id, { AlarmDescription }] of Object.entries(alarms(silent))) {
      expect(AlarmDescription, id).toMatch(/^Muster: .*(log|execution|redeliver)/)
    }
  })

  test('the sweep’s alarms watch the metrics of the stack’s own function', () => {
    const { Dimensions } = alarms(silent).OldestDue as { Dimensions: { Name: string; Value: unknown }[] }
    expect(Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, referenced(Value) ?? Value]))).toEqual({
      service: 'sweep',
      function_name: expect.stringMatching(/^SweepFunction/),
    })
    expect(Object.values(sweepMetrics).sort()).toEqual(['DueFailed', 'OldestDueAge'])
  })
})

describe('the receiver', () => {
  test('by default no receiver is told: the console shows the alarm', () => {
    for (const [id, { AlarmActions }] of Object.entries(alarms(silent))) expect(AlarmActions, id).toBeUndefined()
    expect(ofType(silent, 'AWS::SNS::Topic')).toEqual([])
    expect(ofType(silent, 'AWS::KMS::Key')).toEqual([])
  })

  test('an e-mail address gets the begin and the end of each alarm, over an encrypted topic', () => {
    const [[topicId] = []] = ofType(mailing, 'AWS::SNS::Topic')
    for (const [id, { AlarmActions, OKActions }] of Object.entries(alarms(mailing))) {
      expect(referenced((AlarmActions as unknown[])[0]), id).toBe(topicId)
      expect(referenced((OKActions as unknown[])[0]), id).toBe(topicId)
    }
    const [[, subscription] = []] = ofType(mailing, 'AWS::SNS::Subscription')
    expect(subscription?.Properties).toMatchObject({ Protocol: 'email', Endpoint: 'operators@example.com' })
  })

  test('CloudWatch may publish to the topic with the topic’s key, for alarms of the account', () => {
    const policies = [...ofType(mailing, 'AWS::SNS::TopicPolicy'), ...ofType(mailing, 'AWS::KMS::Key')]
    expect(policies).toHaveLength(2)
    for (const [logicalId, { Properties }] of policies) {
      const { Statement } = (Properties.PolicyDocument ?? Properties.KeyPolicy) as { Statement: Properties[] }
      expect(Statement, logicalId).toContainEqual(
        expect.objectContaining({
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      )
    }
  })

  test('an existing topic of the organisation replaces a topic of the stack', async () => {
    const topicArn = 'arn:aws:sns:eu-central-1:123456789012:operators'
    const told = await synthesizeTemplate({ 'muster:alarmTopicArn': topicArn })
    for (const [id, { AlarmActions }] of Object.entries(alarms(told))) expect(AlarmActions, id).toEqual([topicArn])
    expect(ofType(told, 'AWS::SNS::Topic')).toEqual([])
  })
})
