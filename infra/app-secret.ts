/** A secret that the deployment creates empty, and a person fills in after the first deploy. */
import { RemovalPolicy } from 'aws-cdk-lib'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import type { SecretName } from './reach.ts'

export interface AppSecretProps {
  readonly name: SecretName
}

interface EmptySecret {
  readonly description: string
  readonly template: object
}

const emptySecrets: Readonly<Record<SecretName, EmptySecret>> = {
  'github-app': {
    description:
      'Muster: appId, privateKey and webhookSecrets (the current secret, and during a rotation the previous one)',
    template: { appId: '', privateKey: '', webhookSecrets: [] },
  },
  models: {
    description: 'Muster: apiKey, the key of the model endpoint',
    template: { apiKey: '' },
  },
}

export class AppSecret extends Construct {
  readonly secret: Secret

  constructor(scope: Construct, id: string, props: AppSecretProps) {
    super(scope, id)
    const { description, template } = emptySecrets[props.name]
    this.secret = new Secret(this, 'Secret', {
      description,
      // The template shows which fields to fill in. CloudFormation demands one generated field; nothing reads the
      // field.
      generateSecretString: { secretStringTemplate: JSON.stringify(template), generateStringKey: 'unused' },
      // A private key that is deleted with a stack by mistake stops every review until a new key is made.
      removalPolicy: RemovalPolicy.RETAIN,
    })
  }
}
