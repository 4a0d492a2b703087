/** The alarms that wake an operator, each with its remedy. The deployment chooses the destination. */
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
  /** Undefined: only the console shows the alarms. */
  readonly topic: ITopic | undefined
}

interface Watch {
  readonly metric: IMetric
  /** What happened, and the remedy. */
  readonly says: string
  /** The largest healthy value. */
  readonly atMost: number
  /** Consecutive periods above `atMost` before the alarm. */
  readonly periods: number
  /** The meaning of a period without a value. */
  readonly silence: 'well' | 'wrong'
}

/** The metrics of the sweep; `functions/sweep/handler.ts` writes the same names. */
export const sweepMetrics = { oldestDueAge: 'OldestDueAge', dueFailed: 'DueFailed' } as const

/** Values are summed up over this period: an operator can't act on anything finer. */
const period = Duration.minutes(5)

/** The sweep takes up a due item within a minute. A due item ten minutes old means that the sweep doesn't keep up. */
const dueAgeMax = Duration.minutes(10)

/** The next sweep takes up a single failure again; failures for a quarter of an hour are no accident. */
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
      says: 'The command function crashed on a message five times. The function’s log has the reason; redrive the message after the correction.',
    })
    this.#raise('OutboxDeadLetters', {
      ...any,
      metric: deadLetters(queues.outbox),
      says: 'The post function crashed on a message five times. The function’s log has the reason; redrive the message after the correction.',
    })
    this.#raise('ExecutionsFailed', {
      ...any,
      metric: machine.metricFailed({ period }),
      says: 'A run ended as failed. The execution names the room and the error.',
    })
    this.#raise('WebhookServerErrors', {
      ...any,
      metric: api.metricServerError({ period, statistic: Stats.SUM }),
      says: 'A webhook may not have been recorded, and GitHub does not repeat it: redeliver the webhook from the settings of the GitHub App.',
    })
    this.#raise('OldestDue', {
      metric: ofSweep(sweep, sweepMetrics.oldestDueAge, Stats.MAXIMUM, Unit.MILLISECONDS),
      says: 'Due items are taken up late, or the sweep does not run at all: the sweep’s log has the reason. Runs still go on, but lost events stay lost.',
      atMost: dueAgeMax.toMilliseconds(),
      // The schedule has not yet swept a new stack.
      periods: 2,
      silence: 'wrong',
    })
    this.#raise('DueFailing', {
      metric: ofSweep(sweep, sweepMetrics.dueFailed, Stats.SUM, Unit.COUNT),
      says: 'A due item fails again and again. The log of the sweep names the item and the reason.',
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

/** The name of the function tells several stacks of one account apart. */
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
