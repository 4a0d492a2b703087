/** Muster's demands on Secrets Manager, as promises that every implementation must keep, seen through the real SDK. */
import { randomUUID } from 'node:crypto'
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export interface SecretsSubject {
  readonly client: SecretsManagerClient
  stop(): Promise<void>
}

export function secretsContract(name: string, start: () => Promise<SecretsSubject>): void {
  describe(`${name} keeps the contract of Secrets Manager`, () => {
    let subject: SecretsSubject
    beforeAll(async () => {
      subject = await start()
    })
    afterAll(() => subject.stop())

    const newName = () => `contract/${randomUUID()}`
    const create = (Name: string, SecretString: string) =>
      subject.client.send(new CreateSecretCommand({ Name, SecretString }))
    const put = (SecretId: string, SecretString: string, ClientRequestToken: string = randomUUID()) =>
      subject.client.send(new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken }))
    const get = (SecretId: string, which: { VersionId?: string; VersionStage?: string } = {}) =>
      subject.client.send(new GetSecretValueCommand({ SecretId, ...which }))

    it('a value is got by name and by ARN, digits as digits', async () => {
      const secret = newName()
      const created = await create(secret, '0123')
      expect(await get(secret)).toMatchObject({
        Name: secret,
        ARN: created.ARN,
        SecretString: '0123',
        VersionId: created.VersionId,
        VersionStages: ['AWSCURRENT'],
        CreatedDate: expect.any(Date),
      })
      expect((await get(String(created.ARN))).SecretString).toBe('0123')
    })

    it('a new value is current, and the earlier value stays reachable as previous and by its id', async () => {
      const secret = newName()
      const first = await create(secret, 'one')
      await put(secret, 'two')
      expect((await get(secret)).SecretString).toBe('two')
      expect((await get(secret, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one')
      expect((await get(secret, { VersionId: String(first.VersionId) })).SecretString).toBe('one')
      await put(secret, 'three')
      expect((await get(secret, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('two')
    })

    it('an id with the wrong label is not found', async () => {
      const secret = newName()
      const first = await create(secret, 'one')
      await put(secret, 'two')
      const both = get(secret, { VersionId: String(first.VersionId), VersionStage: 'AWSCURRENT' })
      await expect(both).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    })

    it('a put is repeated by its token without a second version; another value under the token is refused', async () => {
      const secret = newName()
      await create(secret, 'one')
      const token = randomUUID()
      await put(secret, 'two', token)
      await put(secret, 'two', token)
      expect((await get(secret, { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one')
      await expect(put(secret, 'other', token)).rejects.toMatchObject({ name: 'ResourceExistsException' })
      expect((await get(secret)).SecretString).toBe('two')
    })

    it('a name is created once', async () => {
      const secret = newName()
      await create(secret, 'one')
      await expect(create(secret, 'two')).rejects.toMatchObject({ name: 'ResourceExistsException' })
      expect((await get(secret)).SecretString).toBe('one')
    })

    it('an unknown secret is ResourceNotFoundException', async () => {
      const missing = { name: 'ResourceNotFoundException' }
      await expect(get(newName())).rejects.toMatchObject(missing)
      await expect(put(newName(), 'x')).rejects.toMatchObject(missing)
    })

    it('a value without content, or beyond 64 KiB, is refused', async () => {
      const secret = newName()
      await create(secret, 'x'.repeat(65_536))
      await expect(put(secret, 'x'.repeat(65_537))).rejects.toThrow()
      const empty = new PutSecretValueCommand({ SecretId: secret })
      await expect(subject.client.send(empty)).rejects.toThrow()
    })
  })
}
