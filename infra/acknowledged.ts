/**
 * What the AWS Solutions rules (cdk-nag) say against the stack, and why it stays as it is. Each finding is named by
 * its own id and its own place, so that anything new that the rules find stops `cdk synth`.
 */
import { reach } from './reach.ts'
import { type RoomName, roomNames } from './rooms.ts'

export interface Acknowledgement {
  /** Rule, and in brackets the finding, as the report names it without its prefix `AwsSolutions::`. */
  readonly id: string
  /** What it is about, for people. */
  readonly subject: string
  /** Paths of the constructs below the stack. */
  readonly at: readonly string[]
  readonly reason: string
}

/** Where CDK keeps the permissions of a room. */
const policyOf = (room: RoomName) => `${constructOf(room)}/Role/DefaultPolicy/Resource`
const executionPolicyOf = (room: RoomName) => `${constructOf(room)}Executions/Resource`

export const acknowledgements: readonly Acknowledgement[] = [
  {
    id: 'AwsSolutions-IAM5[Resource::*]',
    subject: 'the rooms’ traces',
    at: roomNames.map(policyOf),
    reason:
      'X-Ray’s PutTraceSegments and PutTelemetryRecords know no resource. It is the one statement with `*`: a test compares every other one with the reach table.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::*]',
    subject: 'the machine’s traces and log',
    at: ['Run/Machine/Role/DefaultPolicy/Resource'],
    reason:
      'X-Ray and the delivery of logs (logs:CreateLogDelivery and its like) know no resource. What the machine invokes is named function by function.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<DocumentsBucket089EA665.Arn>/*]',
    subject: 'the rooms’ documents',
    at: roomNames.filter((room) => reach[room].documents.length > 0).map(policyOf),
    reason:
      'A document’s key is the digest of its content, which is not known before. The bucket holds nothing else, and no room may delete from it.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<RunMachineC1454A91.Name>:*]',
    subject: 'the machine’s executions',
    at: roomNames.filter((room) => reach[room].executions.some((use) => use !== 'starts')).map(executionPolicyOf),
    reason: 'Executions of this one machine: each has the name of its run, which is not known before.',
  },
  {
    id: 'AwsSolutions-APIG4',
    subject: 'the webhook’s route',
    at: ['Http/Api/POST--github--webhook/Resource'],
    reason:
      'GitHub can’t sign as an AWS principal. The room checks its HMAC signature over the exact bytes before anything is written, and the route is throttled.',
  },
  {
    id: 'AwsSolutions-SMG4',
    subject: 'the secrets',
    at: ['GithubApp/Secret/Resource', 'Models/Secret/Resource'],
    reason:
      'Both are issued elsewhere, by GitHub and by the model’s provider, and no function could make a new one. Two webhook secrets are valid while a person rotates them.',
  },
  {
    id: 'AwsSolutions-S1',
    subject: 'the documents bucket',
    at: ['Documents/Bucket/Resource'],
    reason:
      'Access logs would need a second bucket that has the same question. Only this stack’s rooms read documents; who needs a record of each read has CloudTrail log the bucket’s data events, which name the role.',
  },
  {
    id: 'AwsSolutions-SF1',
    subject: 'the machine',
    at: ['Run/Machine/Resource'],
    reason:
      'A Standard execution keeps its whole history for 90 days, which is where people look. Logging every event would only repeat it; errors are logged.',
  },
]

function constructOf(room: RoomName): string {
  return room.charAt(0).toUpperCase() + room.slice(1)
}
