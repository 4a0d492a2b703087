/** The HTTP API: webhooks from GitHub, who signs them, and questions from programs, whom IAM lets in. */
import { Duration } from 'aws-cdk-lib'
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { keptLogs } from './logs.ts'
import { type RoomName, rooms } from './rooms.ts'

export interface MusterApiProps {
  readonly webhook: IFunction
  readonly api: IFunction
  readonly logRetention: RetentionDays
  /** Requests that each route takes in a second, over time. */
  readonly webhookRequestsPerSecond: number
}

const webhookPath = '/github/webhook'
/**
 * Requests at once that a route takes, in seconds of its rate: GitHub sends the webhooks of a mass change (a label
 * on every pull request, a merge train) together, and doesn't send again what is refused here.
 */
const burstSeconds = 5

/** What programs and operators may ask, whom IAM lets in. A scope has a slash in it: `repository/1296269`. */
const routes: readonly { readonly path: string; readonly methods: HttpMethod[] }[] = [
  { path: '/runs/{runId}', methods: [HttpMethod.GET] },
  { path: '/runs/{runId}/cancel', methods: [HttpMethod.POST] },
  { path: '/runs/{runId}/retry', methods: [HttpMethod.POST] },
  { path: '/fleet', methods: [HttpMethod.GET] },
  { path: '/fleet/limits', methods: [HttpMethod.PATCH] },
  { path: '/halts/{scope+}', methods: [HttpMethod.GET, HttpMethod.PUT, HttpMethod.DELETE] },
]

export class MusterApi extends Construct {
  readonly api: HttpApi

  constructor(scope: Construct, id: string, props: MusterApiProps) {
    super(scope, id)
    this.api = new HttpApi(this, 'Api', {
      description: 'Muster: webhooks from GitHub, and runs, limits and halts for programs',
      createDefaultStage: false,
    })
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      // Everybody can reach the webhook: without a limit of its own, a flood would use up the account's functions.
      throttle: {
        rateLimit: props.webhookRequestsPerSecond,
        burstLimit: props.webhookRequestsPerSecond * burstSeconds,
      },
      accessLogSettings: {
        destination: new LogGroupLogDestination(new LogGroup(this, 'Log', keptLogs(props.logRetention))),
        // What the gateway refuses never reaches the function's log. No caller, no query, no body.
        format: AccessLogFormat.custom(
          '{"requestId":"$context.requestId","at":"$context.requestTime","route":"$context.routeKey","status":"$context.status","error":"$context.error.message"}',
        ),
      },
    })
    this.api.addRoutes({
      path: webhookPath,
      methods: [HttpMethod.POST],
      integration: integrationOf('Webhook', 'webhook', props.webhook),
    })
    const integration = integrationOf('Runs', 'api', props.api)
    const authorizer = new HttpIamAuthorizer()
    for (const { path, methods } of routes) this.api.addRoutes({ path, methods, integration, authorizer })
  }

  /** The address to enter as webhook URL of the GitHub App. */
  get webhookUrl(): string {
    return `${this.api.apiEndpoint}${webhookPath}`
  }
}

function integrationOf(id: string, room: RoomName, handler: IFunction): HttpLambdaIntegration {
  return new HttpLambdaIntegration(id, handler, {
    payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
    timeout: Duration.seconds(rooms[room].timeoutSeconds),
  })
}
