/** Secrets Manager in memory, synchronous: the reads of the rooms, and a put that rotates a value. */

import { z } from 'zod'
import { ServiceError } from '../../../infra/local/json-protocol.ts'
import type { Secret, SecretVersion } from '../../../infra/local/secrets/file.ts'
import { secretArn } from '../../../infra/local/secrets/secrets.ts'
import { currentStage, findVersion, withVersion } from '../../../infra/local/secrets/versions.ts'
import { jsonService } from './json-service.ts'
import type { SimulatedService, WorldClock } from './service.ts'

export interface SimulatedSecrets extends SimulatedService {
  /**
   * Makes or rotates a secret and returns the version's id. The new value is current at once; the previous value
   * becomes `AWSPREVIOUS`.
   */
  put(name: string, text: string): string
  /** The number of reads of a value, by name. */
  readonly reads: ReadonlyMap<string, number>
}

const getSchema = z.object({
  SecretId: z.string(),
  VersionId: z.string().optional(),
  VersionStage: z.string().optional(),
})

/** An account without secrets. */
export function simulatedSecrets({ now }: { readonly now: WorldClock }): SimulatedSecrets {
  const secrets = new Map<string, Secret>()
  const reads = new Map<string, number>()
  let versions = 0

  function getSecretValue(input: unknown): object {
    const { SecretId, VersionId: id, VersionStage: stage } = getSchema.parse(input)
    const name = [...secrets.keys()].find((each) => each === SecretId || secretArn(each) === SecretId)
    const secret = name === undefined ? undefined : secrets.get(name)
    const found = secret && findVersion(secret, { id, stage })
    if (name === undefined || !found) {
      throw new ServiceError(
        'ResourceNotFoundException',
        `Secrets Manager can't find the specified secret ${SecretId}.`,
      )
    }
    reads.set(name, (reads.get(name) ?? 0) + 1)
    const [VersionId, version] = found
    return {
      ARN: secretArn(name),
      Name: name,
      VersionId,
      VersionStages: version.stages,
      SecretString: version.string,
      CreatedDate: version.createdAt / 1_000,
    }
  }

  return {
    ...jsonService('secrets', {
      target: 'secretsmanager',
      version: '1.1',
      errorNamespace: 'com.amazonaws.secretsmanager',
      actions: { GetSecretValue: getSecretValue },
    }),
    reads,
    put(name, text) {
      versions++
      const id = `00000000-0000-4000-9000-${String(versions).padStart(12, '0')}`
      const before: Secret = secrets.get(name) ?? { createdAt: now(), changedAt: now(), versions: {} }
      const version: SecretVersion = { createdAt: now(), stages: [currentStage], string: text }
      secrets.set(name, withVersion(before, id, version))
      return id
    },
  }
}
