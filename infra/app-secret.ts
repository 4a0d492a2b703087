/** A secret that is created empty, and filled in by a person after the first deploy. */
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
    description: 'Muster: appId, privateKey and webhookSecrets (the current one, and while it rotates the one before)',
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
      // The template shows what is to be filled in. CloudFormation wants one generated field; nobody reads it.
      generateSecretString: { secretStringTemplate: JSON.stringify(template), generateStringKey: 'unused' },
      // A private key that went with a stack by mistake would stop every review until a new one is made.
      removalPolicy: RemovalPolicy.RETAIN,
    })
  }
}
