/** The HTTP API that GitHub sends its webhooks to. */
import { Duration } from 'aws-cdk-lib'
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { keptLogs } from './logs.ts'
import { rooms } from './rooms.ts'

export interface WebhookApiProps {
  readonly webhook: IFunction
  readonly logRetention: RetentionDays
}

const webhookPath = '/github/webhook'

export class WebhookApi extends Construct {
  readonly api: HttpApi

  constructor(scope: Construct, id: string, props: WebhookApiProps) {
    super(scope, id)
    this.api = new HttpApi(this, 'Api', {
      description: 'Muster: webhooks from GitHub',
      createDefaultStage: false,
    })
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
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
      integration: new HttpLambdaIntegration('Webhook', props.webhook, {
        payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
        timeout: Duration.seconds(rooms.webhook.timeoutSeconds),
      }),
    })
  }

  /** The address to enter as webhook URL of the GitHub App. */
  get webhookUrl(): string {
    return `${this.api.apiEndpoint}${webhookPath}`
  }
}
