/** Invokes the sweep once a minute. */
import { Duration, Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { Construct } from 'constructs'

/** The finest interval of EventBridge Scheduler. */
const interval = Duration.minutes(1)

export class SweepSchedule extends Construct {
  constructor(scope: Construct, id: string, props: { readonly sweep: IFunction }) {
    super(scope, id)
    // The role of the construct: CDK's default role may also invoke every version of the function.
    const role = new Role(this, 'Role', {
      description: 'Muster: invokes the sweep',
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    })
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [props.sweep.functionArn] }))
    new Schedule(this, 'Schedule', {
      description: 'Muster: takes up due items',
      schedule: ScheduleExpression.rate(interval),
      // No retry of a failed sweep: the next sweep finds every item that is still due.
      target: new LambdaInvoke(props.sweep, {
        retryAttempts: 0,
        maxEventAge: interval,
        role: role.withoutPolicyUpdates(),
      }),
    })
    props.sweep.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval })
  }
}
