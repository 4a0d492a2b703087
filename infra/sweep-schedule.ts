/** The minute's beat: invokes the sweep. */
import { Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { Construct } from 'constructs'

/** One sweep a minute, the finest that EventBridge Scheduler has. */
const interval = Duration.minutes(1)

export class SweepSchedule extends Construct {
  constructor(scope: Construct, id: string, props: { readonly sweep: IFunction }) {
    super(scope, id)
    new Schedule(this, 'Schedule', {
      description: 'Muster: takes up whatever is due',
      schedule: ScheduleExpression.rate(interval),
      // A sweep that failed isn't repeated: the next one finds everything that is still due.
      target: new LambdaInvoke(props.sweep, { retryAttempts: 0, maxEventAge: interval }),
    })
    props.sweep.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval })
  }
}
