/** The simulated secrets, read through the real SDK. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { expect, test } from 'vitest'
import { serveSimulated } from './http.ts'
import { simulatedSecrets } from './secrets.ts'

test('AW10: a rotated value is current at once, and the previous value stays reachable by its label and its id', async () => {
  const secrets = simulatedSecrets({ now: () => 1_790_000_000_000 })
  await using service = await serveSimulated(secrets)
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new SecretsManagerClient({ endpoint: service.url, region: 'local', credentials, maxAttempts: 1 })
  const get = (which: { VersionId?: string; VersionStage?: string } = {}) =>
    client.send(new GetSecretValueCommand({ SecretId: 'app', ...which }))

  await expect(get()).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  const first = secrets.put('app', 'one')
  const { ARN: SecretId } = await get()
  secrets.put('app', 'two')
  expect(await get()).toMatchObject({ SecretString: 'two', VersionStages: ['AWSCURRENT'] })
  expect((await client.send(new GetSecretValueCommand({ SecretId }))).SecretString).toBe('two')
  expect((await get({ VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one')
  expect((await get({ VersionId: first })).SecretString).toBe('one')
  expect(secrets.reads.get('app')).toBe(5)
})
