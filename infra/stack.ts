/** Muster as one stack: the resources and their connections. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Construct } from 'constructs'
import { alarmTopic } from './alarm-topic.ts'
import { Alarms } from './alarms.ts'
import { AppSecret } from './app-secret.ts'
import { DocumentsBucket } from './documents-bucket.ts'
import { grantExecutions, grantResources, type Reachable, roomEnvironment } from './grants.ts'
import { MusterApi } from './http-api.ts'
import { LedgerTable } from './ledger-table.ts'
import { machineRooms } from './machine.ts'
import { NudgeQueue, queueConcurrency } from './nudge-queue.ts'
import { reach } from './reach.ts'
import { RoomFunction } from './room-function.ts'
import { type RoomName, roomNames, rooms } from './rooms.ts'
import { RunMachine } from './run-machine.ts'
import type { Settings } from './settings.ts'
import { SweepSchedule } from './sweep-schedule.ts'

export interface MusterStackProps extends StackProps {
  /** Folder of each room's bundle. */
  readonly bundles: Readonly<Record<RoomName, string>>
  readonly settings: Settings
}

/**
 * Messages of one invocation. The messages of a process that dies stay hidden for six timeouts (AW53), so a larger
 * batch would block other pull requests too.
 */
const batchSize = 1

export class MusterStack extends Stack {
  constructor(scope: Construct, id: string, props: MusterStackProps) {
    super(scope, id, props)
    const { settings } = props
    const { logRetention } = settings

    const queue = (constructId: string, consumer: RoomName) =>
      new NudgeQueue(this, constructId, { consumerTimeoutSeconds: rooms[consumer].timeoutSeconds })
    const queues = { inbox: queue('Inbox', 'command'), outbox: queue('Outbox', 'post') }
    const resources: Reachable = {
      table: new LedgerTable(this, 'Ledger').table,
      documents: new DocumentsBucket(this, 'Documents').bucket,
      queues: { inbox: queues.inbox.queue, outbox: queues.outbox.queue },
      secrets: {
        'github-app': new AppSecret(this, 'GithubApp', { name: 'github-app' }).secret,
        models: new AppSecret(this, 'Models', { name: 'models' }).secret,
      },
    }

    const functions = byRoom((room) => {
      const roomFunction = new RoomFunction(this, capitalized(room), {
        room,
        bundle: props.bundles[room],
        environment: roomEnvironment(room, resources, settings),
        logRetention,
        reservedConcurrency: settings.reservedConcurrency[room],
      })
      grantResources(room, roomFunction, resources)
      return roomFunction
    })
    const { machine } = new RunMachine(this, 'Run', {
      functions: {
        plan: functions.plan.function,
        admit: functions.admit.function,
        review: functions.review.function,
        conclude: functions.conclude.function,
      },
      logRetention,
    })
    for (const room of roomNames) {
      grantExecutions(this, room, functions[room], machine)
      // A room that the machine invokes gets its execution's ARN in the input: the machine's ARN in its environment
      // would close a circle.
      if (reach[room].executions.length > 0 && !isMachineRoom(room)) {
        functions[room].function.addEnvironment('STATE_MACHINE_ARN', machine.stateMachineArn)
      }
      const { receives } = reach[room]
      if (receives !== 'none') {
        functions[room].function.addEventSource(
          new SqsEventSource(resources.queues[receives], {
            batchSize,
            reportBatchItemFailures: true,
            maxConcurrency: queueConcurrency,
          }),
        )
      }
    }

    const http = new MusterApi(this, 'Http', {
      webhook: functions.webhook.function,
      api: functions.api.function,
      logRetention,
      webhookRequestsPerSecond: settings.webhookRequestsPerSecond,
    })
    new SweepSchedule(this, 'EveryMinute', { sweep: functions.sweep.function })
    new Alarms(this, 'Alarms', {
      api: http.api,
      machine,
      queues,
      sweep: functions.sweep.function,
      topic: alarmTopic(this, settings),
    })

    new CfnOutput(this, 'WebhookUrl', { value: http.webhookUrl, description: 'Webhook URL of the GitHub App' })
    new CfnOutput(this, 'GithubAppSecretArn', {
      value: resources.secrets['github-app'].secretArn,
      description: 'Secret to fill in with the App id, its private key and the webhook secret',
    })
    new CfnOutput(this, 'ModelsSecretArn', {
      value: resources.secrets.models.secretArn,
      description: 'Secret to fill in with the key of the model endpoint',
    })
  }
}

function isMachineRoom(room: RoomName): boolean {
  return machineRooms.some((each) => each === room)
}

function byRoom<T>(make: (room: RoomName) => T): Record<RoomName, T> {
  return Object.fromEntries(roomNames.map((room) => [room, make(room)])) as Record<RoomName, T>
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
