/** The HTTP API: webhooks, which GitHub signs, and requests of programs, which IAM authorises. */
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
  /** Requests that each route takes in a second, on average. */
  readonly webhookRequestsPerSecond: number
}

const webhookPath = '/github/webhook'
/**
 * A route takes a burst of requests, in seconds of its rate. GitHub sends the webhooks of a mass change (a label on
 * every pull request, a merge train) together, and never repeats a webhook that the gateway refuses.
 */
const burstSeconds = 5

/** The requests of programs and operators, authorised by IAM. A scope contains a slash: `repository/1296269`. */
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
      // The webhook is open to the internet: without a limit of its own, a flood would use up the account's functions.
      throttle: {
        rateLimit: props.webhookRequestsPerSecond,
        burstLimit: props.webhookRequestsPerSecond * burstSeconds,
      },
      accessLogSettings: {
        destination: new LogGroupLogDestination(new LogGroup(this, 'Log', keptLogs(props.logRetention))),
        // The function's log misses a request that the gateway refuses. The access log holds no caller, no query, no
        // body.
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

  /** The webhook URL to enter in the GitHub App. */
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
