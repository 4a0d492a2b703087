/** The destination of the alarms: a topic of the organisation, a topic of the stack with an e-mail address, or none. */
import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import type { Settings } from './settings.ts'

/** The topic that the deployment asks for; undefined: only the console shows the alarms. */
export function alarmTopic(scope: Construct, settings: Settings): ITopic | undefined {
  const { alarmTopicArn, alarmEmail } = settings
  if (alarmTopicArn !== undefined) return Topic.fromTopicArn(scope, 'AlarmTopic', alarmTopicArn)
  if (alarmEmail === undefined) return undefined
  const topic = new Topic(scope, 'AlarmTopic', {
    displayName: 'Muster alarms',
    // A key of the stack: CloudWatch can't publish under the key that AWS manages for SNS.
    // https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
    masterKey: alarmKey(scope),
    enforceSSL: true,
  })
  topic.addSubscription(new EmailSubscription(alarmEmail))
  topic.addToResourcePolicy(allowOfAlarms(scope, ['sns:Publish'], topic.topicArn))
  return topic
}

function alarmKey(scope: Construct): Key {
  const key = new Key(scope, 'AlarmKey', {
    description: 'Muster: the alarm topic',
    enableKeyRotation: true,
    // The key protects nothing that is kept.
    removalPolicy: RemovalPolicy.DESTROY,
  })
  key.addToResourcePolicy(allowOfAlarms(scope, ['kms:Decrypt', 'kms:GenerateDataKey'], '*'))
  return key
}

/** Allows CloudWatch's alarms of this account, and not CloudWatch on behalf of another account. */
function allowOfAlarms(scope: Construct, actions: string[], resource: string): PolicyStatement {
  return new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions,
    resources: [resource],
    conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
  })
}
