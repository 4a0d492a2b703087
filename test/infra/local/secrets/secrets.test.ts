import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { secretArn, startSecrets } from '../../../../infra/local/secrets/secrets.ts'
import { secretsContract } from './contract.ts'

function clientFor(endpoint: string): SecretsManagerClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return new SecretsManagerClient({ endpoint, region: 'local', credentials, maxAttempts: 1 })
}

const newFolder = () => mkdtemp(join(tmpdir(), 'muster-secrets-'))

secretsContract('infra/local/secrets', async () => {
  const folder = await newFolder()
  const service = await startSecrets({ file: join(folder, 'secrets.json') })
  return {
    client: clientFor(service.url),
    async stop() {
      await service.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('the file', () => {
  let folder: string
  let file: string
  const warnings: string[] = []
  const start = () => startSecrets({ file, warn: (sentence) => warnings.push(sentence) })
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777

  beforeEach(async () => {
    folder = await newFolder()
    file = join(folder, 'state', 'secrets.json')
    warnings.length = 0
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('the file is made, and stays, for its owner only', async () => {
    const service = await start()
    expect(await modeOf(file)).toBe(0o600)
    expect(await modeOf(join(folder, 'state'))).toBe(0o700)
    await clientFor(service.url).send(new CreateSecretCommand({ Name: 'key', SecretString: 'x' }))
    expect(await modeOf(file)).toBe(0o600)
    expect(warnings).toEqual([])
    await service.close()
  })

  it('an open file is closed to all but the owner with a warning, at the start and later', async () => {
    await (await start()).close()
    await chmod(file, 0o644)
    const service = await start()
    expect(await modeOf(file)).toBe(0o600)
    expect(warnings).toEqual([expect.stringMatching(/^secrets_file_exposed: .* had mode 0644 .* it is 0600 now/)])
    await clientFor(service.url).send(new CreateSecretCommand({ Name: 'key', SecretString: 'x' }))
    await chmod(file, 0o660)
    await clientFor(service.url).send(new GetSecretValueCommand({ SecretId: 'key' }))
    expect(await modeOf(file)).toBe(0o600)
    expect(warnings).toHaveLength(2)
    await service.close()
  })

  it('the file keeps the secrets over a restart, under the ARN of their names', async () => {
    const first = await start()
    const { ARN } = await clientFor(first.url).send(new CreateSecretCommand({ Name: 'app/key', SecretString: 'kept' }))
    expect(ARN).toBe('arn:aws:secretsmanager:local:000000000000:secret:app/key')
    expect(ARN).toBe(secretArn('app/key'))
    await first.close()
    const second = await start()
    const got = await clientFor(second.url).send(new GetSecretValueCommand({ SecretId: String(ARN) }))
    expect(got.SecretString).toBe('kept')
    await second.close()
  })

  it('the file is read at each request: a person’s change counts', async () => {
    const service = await start()
    const client = clientFor(service.url)
    await client.send(new CreateSecretCommand({ Name: 'key', SecretString: 'typo' }))
    await writeFile(file, (await readFile(file, 'utf8')).replace('typo', 'mended'))
    expect((await client.send(new GetSecretValueCommand({ SecretId: 'key' }))).SecretString).toBe('mended')
    await service.close()
  })

  it('the file loses no write of many at once, and no other file is left', async () => {
    const service = await start()
    const client = clientFor(service.url)
    const names = Array.from({ length: 20 }, (_, index) => `key-${index}`)
    await Promise.all(names.map((Name) => client.send(new CreateSecretCommand({ Name, SecretString: Name }))))
    const values = await Promise.all(names.map((SecretId) => client.send(new GetSecretValueCommand({ SecretId }))))
    expect(values.map(({ SecretString }) => SecretString)).toEqual(names)
    expect(await readdir(join(folder, 'state'))).toEqual(['secrets.json'])
    await service.close()
  })

  it.each([
    ['not JSON', 'hunter2 {'],
    ['another shape', '{"key":"hunter2"}'],
    ['an unknown part', '{"key":{"createdAt":0,"changedAt":0,"versions":{},"hunter2":1}}'],
  ])('a file that is %s is refused with a remedy, untouched, and without a word of its content', async (_, content) => {
    await (await start()).close()
    await writeFile(file, content)
    const refused = await start().then(() => undefined, String)
    expect(refused).toMatch(/secrets_file_invalid: .*secrets\.json .*Correct the file, or move it away/)
    expect(refused).not.toContain('hunter2')
    expect(await readFile(file, 'utf8')).toBe(content)
  })

  it('the file knows only names of secrets: the name of an object’s member is unknown', async () => {
    const service = await start()
    const client = clientFor(service.url)
    for (const SecretId of ['constructor', '__proto__', 'toString']) {
      const missing = client.send(new GetSecretValueCommand({ SecretId }))
      await expect(missing).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
      const put = client.send(new PutSecretValueCommand({ SecretId, SecretString: 'x' }))
      await expect(put).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    }
    await service.close()
  })
})
