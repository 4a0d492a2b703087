/** The CDK context: its valid values, and the report of every mistake before a deployment. */
import { App } from 'aws-cdk-lib'
import { describe, expect, test } from 'vitest'
import { queueConcurrency } from '../../infra/nudge-queue.ts'
import { roomNames } from '../../infra/rooms.ts'
import { type Settings, settingsFromContext } from '../../infra/settings.ts'

function settingsOf(context: Record<string, unknown>): Settings {
  return settingsFromContext(new App({ context, analyticsReporting: false }).node)
}

test('an empty context is valid', () => {
  expect(settingsOf({})).toEqual({
    githubApiUrl: 'https://api.github.com',
    modelDefault: undefined,
    modelBaseUrl: undefined,
    leaseSeconds: undefined,
    heartbeatSeconds: undefined,
    patienceMinutes: undefined,
    logRetention: 30,
    reservedConcurrency: {},
    webhookRequestsPerSecond: 100,
    alarmTopicArn: undefined,
    alarmEmail: undefined,
  })
})

test('numbers are valid as in cdk.json and as texts of -c', () => {
  expect(settingsOf({ 'muster:leaseSeconds': '120', 'muster:webhookRequestsPerSecond': 20 })).toMatchObject({
    leaseSeconds: 120,
    webhookRequestsPerSecond: 20,
  })
})

test('L2: patience is bounded by the history of an execution', () => {
  expect(settingsOf({ 'muster:patienceMinutes': '120' }).patienceMinutes).toBe(120)
  for (const minutes of [0, 121, 'long']) {
    expect(() => settingsOf({ 'muster:patienceMinutes': minutes }), String(minutes)).toThrow('muster:patienceMinutes')
  }
})

describe('reserved concurrency', () => {
  test('reserved concurrency applies to the named rooms, and to no other', () => {
    const settings = settingsOf({ 'muster:reservedConcurrency.review': '40', 'muster:reservedConcurrency.post': 10 })
    expect(settings.reservedConcurrency).toEqual({ review: 40, post: 10 })
  })

  test.each(['command', 'post'])('AW52: of %s is never below what its queue invokes at once', (room) => {
    const key = `muster:reservedConcurrency.${room}`
    expect(() => settingsOf({ [key]: queueConcurrency - 1 })).toThrow(
      /must be a whole number of at least 10, because the (inbox|outbox) queue starts as many invocations at once, got 9/,
    )
    expect(settingsOf({ [key]: queueConcurrency }).reservedConcurrency).toEqual({ [room]: queueConcurrency })
  })

  test('reserved concurrency of 0, which would switch a room off, is refused for every room', () => {
    for (const room of roomNames) {
      expect(() => settingsOf({ [`muster:reservedConcurrency.${room}`]: 0 }), room).toThrow('must be a whole number')
    }
  })
})

test('one error names every wrong value, with the allowed values', () => {
  const wrong = () =>
    settingsOf({
      'muster:githubApiUrl': 'github.example',
      'muster:leaseSeconds': '30',
      'muster:logRetentionDays': '31',
      'muster:alarmTopicArn': 'arn:aws:sqs:eu-central-1:123456789012:queue',
      'muster:alarmEmail': 'operators',
      'muster:webhookRequestsPerSecond': '1.5',
      'muster:modelDefault': 7,
    })
  for (const problem of [
    'muster:githubApiUrl must be an http or https URL, got "github.example"',
    'muster:leaseSeconds must be a whole number of at least 60, got "30"',
    'muster:logRetentionDays must be one of 1, 3, 5',
    'muster:alarmTopicArn must be the ARN of an SNS topic',
    'muster:alarmEmail must be an e-mail address, got "operators"',
    'muster:webhookRequestsPerSecond must be a whole number of at least 1, got "1.5"',
    'muster:modelDefault must be a string, got 7',
  ]) {
    expect(wrong).toThrow(problem)
  }
})

test('AW38: a lease takes three heartbeats, whichever of both is given', () => {
  const refused = /muster:heartbeatSeconds must fit 3 times into a lease of (90|180) s, got (31|61)/
  expect(() => settingsOf({ 'muster:leaseSeconds': 90, 'muster:heartbeatSeconds': '31' })).toThrow(refused)
  expect(() => settingsOf({ 'muster:heartbeatSeconds': 61 })).toThrow(refused)
  expect(settingsOf({ 'muster:leaseSeconds': 90, 'muster:heartbeatSeconds': '30' }).heartbeatSeconds).toBe(30)
})

test('a misspelt name is refused, because it would change nothing silently', () => {
  expect(() => settingsOf({ 'muster:reservedConcurrency.reviews': 40 })).toThrow(
    'muster:reservedConcurrency.reviews is no setting of Muster',
  )
  expect(() => settingsOf({ 'muster:logRetention': 30 })).toThrow('muster:logRetention is no setting of Muster')
})

test('alarms go to one destination: a topic together with an address is refused', () => {
  const topic = 'arn:aws:sns:eu-central-1:123456789012:operators'
  expect(() => settingsOf({ 'muster:alarmTopicArn': topic, 'muster:alarmEmail': 'o@example.com' })).toThrow(
    'muster:alarmEmail must be left out where muster:alarmTopicArn is given',
  )
})
