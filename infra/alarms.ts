/** What an operator should be woken for, and what to do about each. Where alarms go is the deployment's choice. */
import { Duration } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  Stats,
  TreatMissingData,
  Unit,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { NudgeQueue } from './nudge-queue.ts'
import type { QueueName } from './reach.ts'
import { metricsNamespace } from './room-function.ts'
import type { RoomName } from './rooms.ts'

export interface AlarmsProps {
  readonly api: HttpApi
  readonly machine: StateMachine
  readonly queues: Readonly<Record<QueueName, NudgeQueue>>
  readonly sweep: IFunction
  /** Where alarms are sent; undefined: they are seen in the console only. */
  readonly topic: ITopic | undefined
}

interface Watch {
  readonly metric: IMetric
  /** What happened, and what to do. */
  readonly says: string
  /** The largest value that is well. */
  readonly atMost: number
  /** Periods in a row that it must be worse. */
  readonly periods: number
  /** What no value means. */
  readonly silence: 'well' | 'wrong'
}

/** What the sweep measures; `functions/sweep/handler.ts` writes the same names. */
export const sweepMetrics = { oldestDueAge: 'OldestDueAge', dueFailed: 'DueFailed' } as const

/** Values are summed up over this, the finest at which an operator could do anything about them. */
const period = Duration.minutes(5)

/** What is due is taken up within a minute; ten times that, and the sweep doesn't keep up. */
const dueAgeMax = Duration.minutes(10)

/** One failure is taken up again by the next sweep; failures for a quarter of an hour are no accident. */
const failingPeriods = 3

export class Alarms extends Construct {
  readonly #topic: ITopic | undefined

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    this.#topic = props.topic
    const { api, machine, queues, sweep } = props
    const any = { atMost: 0, periods: 1, silence: 'well' } as const
    this.#raise('InboxDeadLetters', {
      ...any,
      metric: deadLetters(queues.inbox),
      says: 'The command function crashed on a message five times. Its log says why; redrive the message when that is corrected.',
    })
    this.#raise('OutboxDeadLetters', {
      ...any,
      metric: deadLetters(queues.outbox),
      says: 'The post function crashed on a message five times. Its log says why; redrive the message when that is corrected.',
    })
    this.#raise('ExecutionsFailed', {
      ...any,
      metric: machine.metricFailed({ period }),
      says: 'A run ended as failed. The execution names the room and the error.',
    })
    this.#raise('WebhookServerErrors', {
      ...any,
      metric: api.metricServerError({ period, statistic: Stats.SUM }),
      says: 'A webhook may not have been recorded, and GitHub does not send it again by itself: redeliver it from the settings of the GitHub App.',
    })
    this.#raise('OldestDue', {
      metric: ofSweep(sweep, sweepMetrics.oldestDueAge, Stats.MAXIMUM, Unit.MILLISECONDS),
      says: 'What is due is not taken up in time, or the sweep does not run at all: its log says why. Runs still go on, but nothing that was lost on the way is found.',
      atMost: dueAgeMax.toMilliseconds(),
      // A new stack has not been swept yet.
      periods: 2,
      silence: 'wrong',
    })
    this.#raise('DueFailing', {
      metric: ofSweep(sweep, sweepMetrics.dueFailed, Stats.SUM, Unit.COUNT),
      says: 'Something that is due fails again and again. The log of the sweep names what and why.',
      atMost: 0,
      periods: failingPeriods,
      silence: 'well',
    })
  }

  #raise(id: string, { metric, says, atMost, periods, silence }: Watch): void {
    const alarm = new Alarm(this, id, {
      metric,
      alarmDescription: `Muster: ${says}`,
      threshold: atMost,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: silence === 'well' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
    })
    if (this.#topic === undefined) return
    const action = new SnsAction(this.#topic)
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
  }
}

function deadLetters({ deadLetters }: NudgeQueue): IMetric {
  return deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM })
}

/** Several stacks of one account are told apart by the name of the function. */
function ofSweep(sweep: IFunction, metricName: string, statistic: string, unit: Unit): IMetric {
  const room: RoomName = 'sweep'
  return new Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap: { service: room, function_name: sweep.functionName },
    statistic,
    unit,
    period,
  })
}
