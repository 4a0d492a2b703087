/** The minute's beat: invokes the sweep. */
import { Duration, Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { Construct } from 'constructs'

/** One sweep a minute, the finest that EventBridge Scheduler has. */
const interval = Duration.minutes(1)

export class SweepSchedule extends Construct {
  constructor(scope: Construct, id: string, props: { readonly sweep: IFunction }) {
    super(scope, id)
    // A role of our own: the one that CDK would make may invoke every version of the function too.
    const role = new Role(this, 'Role', {
      description: 'Muster: invokes the sweep',
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    })
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [props.sweep.functionArn] }))
    new Schedule(this, 'Schedule', {
      description: 'Muster: takes up whatever is due',
      schedule: ScheduleExpression.rate(interval),
      // A sweep that failed isn't repeated: the next one finds everything that is still due.
      target: new LambdaInvoke(props.sweep, {
        retryAttempts: 0,
        maxEventAge: interval,
        role: role.withoutPolicyUpdates(),
      }),
    })
    props.sweep.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval })
  }
}
