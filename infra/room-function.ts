/** One room as a Lambda function, with a role that may write its own log and nothing else yet. */
import { Duration } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { keptLogs } from './logs.ts'
import { type RoomName, rooms } from './rooms.ts'

export interface RoomFunctionProps {
  readonly room: RoomName
  /** Folder of the room's bundle. */
  readonly bundle: string
  readonly environment: Readonly<Record<string, string>>
  readonly logRetention: RetentionDays
  /** The most invocations at once, reserved from the account's limit; absent: the room shares the account's limit. */
  readonly reservedConcurrency: number | undefined
}

/** CloudWatch's namespace of the rooms' metrics. */
export const metricsNamespace = 'Muster'

export class RoomFunction extends Construct {
  readonly function: LambdaFunction
  readonly role: Role

  constructor(scope: Construct, id: string, props: RoomFunctionProps) {
    super(scope, id)
    const { description, memoryMiB, timeoutSeconds } = rooms[props.room]
    const logGroup = new LogGroup(this, 'Log', keptLogs(props.logRetention))
    // The role of the construct: CDK's default role may write to every log of the account.
    this.role = new Role(this, 'Role', {
      description: `Muster: the reach of the room ${props.room}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    })
    logGroup.grantWrite(this.role)
    this.function = new LambdaFunction(this, 'Function', {
      description: `Muster: ${description}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(props.bundle),
      handler: 'index.handler',
      memorySize: memoryMiB,
      timeout: Duration.seconds(timeoutSeconds),
      environment: {
        ...props.environment,
        POWERTOOLS_SERVICE_NAME: props.room,
        POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,
      },
      role: this.role,
      logGroup,
      tracing: Tracing.ACTIVE,
      ...(props.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
  }
}
