/** What an operator should be woken for. The alarms have no action: an organisation adds its own. */
import { Duration } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { NudgeQueue } from './nudge-queue.ts'
import type { QueueName } from './reach.ts'

export interface AlarmsProps {
  readonly api: HttpApi
  readonly machine: StateMachine
  readonly queues: Readonly<Record<QueueName, NudgeQueue>>
}

const period = Duration.minutes(5)

export class Alarms extends Construct {
  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    this.onAny(
      'InboxDeadLetters',
      props.queues.inbox.deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
      'The command function crashed on a message five times. Its log says why; redrive the message when that is corrected.',
    )
    this.onAny(
      'OutboxDeadLetters',
      props.queues.outbox.deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
      'The post function crashed on a message five times. Its log says why; redrive the message when that is corrected.',
    )
    this.onAny(
      'ExecutionsFailed',
      props.machine.metricFailed({ period }),
      'A run ended as failed. The execution names the room and the error.',
    )
    this.onAny(
      'WebhookServerErrors',
      props.api.metricServerError({ period, statistic: 'Sum' }),
      'A webhook was not recorded, and GitHub does not send it again by itself: redeliver it from the settings of the GitHub App.',
    )
  }

  private onAny(id: string, metric: IMetric, alarmDescription: string): void {
    new Alarm(this, id, {
      metric,
      alarmDescription: `Muster: ${alarmDescription}`,
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
  }
}
