/**
 * The findings of the AWS Solutions rules (cdk-nag) against the stack, with the reason why each stays. An entry names
 * the finding's own id and construct, so that a new finding stops `cdk synth`.
 */
import { reach } from './reach.ts'
import { type RoomName, roomNames } from './rooms.ts'

export interface Acknowledgement {
  /** The rule, and in brackets the finding, as the report names them without the prefix `AwsSolutions::`. */
  readonly id: string
  /** The finding's subject, for people. */
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
      'X-Ray’s PutTraceSegments and PutTelemetryRecords know no resource. No other statement has `*`: a test compares all others with the reach table.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::*]',
    subject: 'the machine’s traces and log',
    at: ['Run/Machine/Role/DefaultPolicy/Resource'],
    reason:
      'X-Ray and the delivery of logs (logs:CreateLogDelivery and similar actions) know no resource. The policy names each function that the machine invokes.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<DocumentsBucket089EA665.Arn>/*]',
    subject: 'the rooms’ documents',
    at: roomNames.filter((room) => reach[room].documents.length > 0).map(policyOf),
    reason:
      'A document’s key is the digest of its content, unknown at deploy time. The bucket holds nothing but documents, and no room may delete from it.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<RunMachineC1454A91.Name>:*]',
    subject: 'the machine’s executions',
    at: roomNames.filter((room) => reach[room].executions.some((use) => use !== 'starts')).map(executionPolicyOf),
    reason: 'Executions of this one machine: each execution has the name of its run, unknown at deploy time.',
  },
  {
    id: 'AwsSolutions-APIG4',
    subject: 'the webhook’s route',
    at: ['Http/Api/POST--github--webhook/Resource'],
    reason:
      'GitHub can’t sign as an AWS principal. The room checks the HMAC signature over the exact bytes before any write, and the route is throttled.',
  },
  {
    id: 'AwsSolutions-SMG4',
    subject: 'the secrets',
    at: ['GithubApp/Secret/Resource', 'Models/Secret/Resource'],
    reason:
      'GitHub and the model’s provider issue these secrets, and no function can make a new one. Two webhook secrets are valid during a rotation by a person.',
  },
  {
    id: 'AwsSolutions-S1',
    subject: 'the documents bucket',
    at: ['Documents/Bucket/Resource'],
    reason:
      'Access logs would need a second bucket with the same finding. Only this stack’s rooms read documents. CloudTrail’s data events of the bucket record each read with its role, where an organisation needs the record.',
  },
  {
    id: 'AwsSolutions-SF1',
    subject: 'the machine',
    at: ['Run/Machine/Resource'],
    reason:
      'A Standard execution keeps its whole history for 90 days, and people look there. A log of every event would only repeat the history; errors are logged.',
  },
]

function constructOf(room: RoomName): string {
  return room.charAt(0).toUpperCase() + room.slice(1)
}
