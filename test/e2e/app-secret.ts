/** The App's secret in Secrets Manager; its owner reads and replaces it while the stack runs. */
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { LocalStack } from '../../infra/local/stack.ts'

export interface AppSecretText {
  readonly appId: number
  readonly privateKey: string
  readonly webhookSecrets: readonly string[]
}

/** The secret's name. Throws for a stack without the secret. */
export function appSecretName({ assembly }: LocalStack): string {
  const found = assembly.secrets.find(({ name }) => !/model/i.test(name))
  if (!found) throw new Error('The stack has no secret of the App.')
  return found.name
}

export async function readAppSecret(stack: LocalStack): Promise<AppSecretText> {
  return withClient(stack, async (client) => {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: appSecretName(stack) }))
    return JSON.parse(SecretString) as AppSecretText
  })
}

/** Stores a new version, which is current from then on. */
export async function putAppSecret(stack: LocalStack, value: AppSecretText): Promise<void> {
  await withClient(stack, (client) =>
    client.send(new PutSecretValueCommand({ SecretId: appSecretName(stack), SecretString: JSON.stringify(value) })),
  )
}

async function withClient<T>(stack: LocalStack, work: (client: SecretsManagerClient) => Promise<T>): Promise<T> {
  const client = new SecretsManagerClient({
    region: stack.assembly.account.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    endpoint: stack.endpoints.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? '',
  })
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}
