/** Where alarms are sent: a topic of the organisation's, or one of ours with an e-mail address, or nowhere. */
import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import type { Settings } from './settings.ts'

/** The topic that the deployment asks for; undefined: the alarms are seen in the console only. */
export function alarmTopic(scope: Construct, settings: Settings): ITopic | undefined {
  const { alarmTopicArn, alarmEmail } = settings
  if (alarmTopicArn !== undefined) return Topic.fromTopicArn(scope, 'AlarmTopic', alarmTopicArn)
  if (alarmEmail === undefined) return undefined
  const topic = new Topic(scope, 'AlarmTopic', {
    displayName: 'Muster alarms',
    // A key of our own: CloudWatch can't publish under the one that AWS manages for SNS.
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
    description: 'Muster: alarms on their way',
    enableKeyRotation: true,
    // Nothing is kept under it.
    removalPolicy: RemovalPolicy.DESTROY,
  })
  key.addToResourcePolicy(allowOfAlarms(scope, ['kms:Decrypt', 'kms:GenerateDataKey'], '*'))
  return key
}

/** CloudWatch's alarms of this account, and no other account's in CloudWatch's name. */
function allowOfAlarms(scope: Construct, actions: string[], resource: string): PolicyStatement {
  return new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions,
    resources: [resource],
    conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
  })
}
