/** The settings of a deployment, from the CDK context (`cdk.json`, or `-c muster:<name>=<value>`). */
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Node } from 'constructs'
import { ContextReader } from './context.ts'
import { queueConcurrency } from './nudge-queue.ts'
import { reach } from './reach.ts'
import { type RoomName, roomNames } from './rooms.ts'

export interface Settings {
  /** GitHub's API; GitHub Enterprise Server has its own. */
  readonly githubApiUrl: string
  /** Default model of the model lenses; absent: none is configured. */
  readonly modelDefault: string | undefined
  /** Endpoint of the default model; absent: none is configured. */
  readonly modelBaseUrl: string | undefined
  /** Lease of a review, s; all other timings follow from the lease. Absent: the functions' own default. */
  readonly leaseSeconds: number | undefined
  /** The interval between renewals of a lease, s. Absent: a third of the lease. */
  readonly heartbeatSeconds: number | undefined
  /** How long a review waits for a throttled model in all, min. Absent: the functions' own default. */
  readonly patienceMinutes: number | undefined
  readonly logRetention: RetentionDays
  /** The most invocations at once of each function with such a limit; the account reserves them. */
  readonly reservedConcurrency: Readonly<Partial<Record<RoomName, number>>>
  /** Requests that each route of the API takes in a second, on average. */
  readonly webhookRequestsPerSecond: number
  /** An SNS topic of the organisation for the alarms. */
  readonly alarmTopicArn: string | undefined
  /** An e-mail address for the alarms, over a topic of the stack. */
  readonly alarmEmail: string | undefined
}

const githubApiUrlDefault = 'https://api.github.com'

/** The sweeper comes once a minute: a shorter lease would be overdue for longer than it holds. */
const leaseSecondsMin = 60

/** The functions' own default. */
const leaseSecondsDefault = 180

/** Two renewals in a row may fail before a lease ends; the functions refuse to start with less. */
const heartbeatsPerLease = 3

/** The functions refuse to start with more: the history of an execution is bounded. */
const patienceMinutesMax = 120

/**
 * An organisation of 10,000 developers sends some webhooks a second; the limit stops a flood well before the flood
 * costs much.
 */
const webhookRequestsPerSecondDefault = 100

/** Reads and checks the context; one error names every wrong value and every unknown name. */
export function settingsFromContext(node: Node): Settings {
  const context = new ContextReader(node)
  const retentions = Object.values(RetentionDays).filter((each) => typeof each === 'number')
  const settings: Settings = {
    githubApiUrl: context.url('githubApiUrl') ?? githubApiUrlDefault,
    modelDefault: context.text('modelDefault'),
    modelBaseUrl: context.url('modelBaseUrl'),
    leaseSeconds: context.wholeNumber('leaseSeconds', leaseSecondsMin),
    heartbeatSeconds: context.wholeNumber('heartbeatSeconds', 1),
    patienceMinutes: context.wholeNumber('patienceMinutes', 1),
    logRetention: context.oneOf('logRetentionDays', retentions) ?? RetentionDays.ONE_MONTH,
    reservedConcurrency: reservedConcurrency(context),
    webhookRequestsPerSecond: context.wholeNumber('webhookRequestsPerSecond', 1) ?? webhookRequestsPerSecondDefault,
    alarmTopicArn: context.textLike('alarmTopicArn', /^arn:[^:]+:sns:[^:]+:\d{12}:[^:]+$/, 'the ARN of an SNS topic'),
    alarmEmail: context.textLike('alarmEmail', /^[^@\s]+@[^@\s]+$/, 'an e-mail address'),
  }
  if (settings.alarmTopicArn !== undefined && settings.alarmEmail !== undefined) {
    context.refuse('alarmEmail', 'must be left out where muster:alarmTopicArn is given', settings.alarmEmail)
  }
  const { leaseSeconds = leaseSecondsDefault, heartbeatSeconds } = settings
  if (heartbeatSeconds !== undefined && leaseSeconds < heartbeatsPerLease * heartbeatSeconds) {
    context.refuse(
      'heartbeatSeconds',
      `must fit ${heartbeatsPerLease} times into a lease of ${leaseSeconds} s`,
      heartbeatSeconds,
    )
  }
  if (settings.patienceMinutes !== undefined && settings.patienceMinutes > patienceMinutesMax) {
    context.refuse('patienceMinutes', `must be at most ${patienceMinutesMax}`, settings.patienceMinutes)
  }
  context.finish()
  return settings
}

/**
 * One name for each room, as in `muster:reservedConcurrency.review`. A queue's poller doesn't know such a limit:
 * messages fetched for a function at its limit count as received, and become dead letters without any work on them. So
 * a room that a queue invokes has at least as many invocations as the queue starts at once.
 */
function reservedConcurrency(context: ContextReader): Partial<Record<RoomName, number>> {
  const reserved = roomNames.flatMap((room) => {
    const { receives } = reach[room]
    const [min, why] =
      receives === 'none'
        ? [1]
        : [queueConcurrency, `, because the ${receives} queue starts as many invocations at once`]
    const value = context.wholeNumber(`reservedConcurrency.${room}`, min, why)
    return value === undefined ? [] : [[room, value] as const]
  })
  return Object.fromEntries(reserved)
}
