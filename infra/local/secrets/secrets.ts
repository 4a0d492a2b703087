/**
 * AWS Secrets Manager on one machine, as far as Muster needs it: create, put and get of text, over a file that only its
 * owner can read.
 */
import { z } from 'zod'
import { type Action, jsonListener, ServiceError } from '../json-protocol.ts'
import { type LocalService, serve } from '../service.ts'
import { openSecretsFile, type Secret, type Secrets, type SecretsFile, type SecretVersion } from './file.ts'
import { currentStage, findVersion, withVersion } from './versions.ts'

export interface SecretsOptions {
  /** The JSON file; made with mode 0600 if absent. One process at a time. */
  readonly file: string
  /** Gets a sentence about a file that others could read; by default the process's error output. */
  readonly warn?: (sentence: string) => void
}

/** A secret has at most 65,536 bytes (Secrets Manager quotas), as JSON or base64 at most six times as many. */
const secretBytesMax = 65_536
const requestBytesMax = 8 * secretBytesMax

const arnPrefix = 'arn:aws:secretsmanager:local:000000000000:secret:'

/**
 * The ARN of the secret called `name`. Unlike AWS's ARNs, the ARN has no random end: a name is never used twice here.
 */
export const secretArn = (name: string): string => `${arnPrefix}${name}`

const valueSchema = z.object({
  ClientRequestToken: z.string().min(32).max(64),
  SecretString: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= secretBytesMax, `at most ${secretBytesMax} bytes`),
})
const createSchema = valueSchema.extend({
  Name: z.string().regex(/^(?!__proto__$)[\w/+=.@-]{1,512}$/, 'must be 1 to 512 letters, digits and /_+=.@-'),
})
const idSchema = z.object({ SecretId: z.string() })
const putSchema = valueSchema.extend(idSchema.shape)
const getSchema = idSchema.extend({ VersionId: z.string().optional(), VersionStage: z.string().optional() })

/** Serves the secrets until closed. Rejects with `secrets_file_invalid` for an unreadable file. */
export async function startSecrets(options: SecretsOptions): Promise<LocalService> {
  const file = openSecretsFile(options.file, options.warn ?? console.warn)
  const listener = jsonListener({
    target: 'secretsmanager',
    version: '1.1',
    errorNamespace: 'com.amazonaws.secretsmanager',
    bodyBytesMax: requestBytesMax,
    actions: secretsActions(file),
  })
  return serve(listener)
}

function secretsActions(file: SecretsFile): Record<string, Action> {
  /** Adds the value as the current version; the same token again is the same version, and must bring the same value. */
  function store(secrets: Secrets, name: string, secret: Secret, value: z.infer<typeof valueSchema>): object {
    const { ClientRequestToken: id, SecretString: string } = value
    const known = Object.hasOwn(secret.versions, id) ? secret.versions[id] : undefined
    if (known) return known.string === string ? identity(name, id, known) : refuseExisting(`${name}, version ${id}`)
    const version = { createdAt: Date.now(), stages: [currentStage], string }
    file.write({ ...secrets, [name]: withVersion(secret, id, version) })
    return identity(name, id, version)
  }

  return {
    CreateSecret(input) {
      const { Name, ...value } = createSchema.parse(input)
      const secrets = file.read()
      const known = Object.hasOwn(secrets, Name) ? secrets[Name] : undefined
      if (known && !Object.hasOwn(known.versions, value.ClientRequestToken)) return refuseExisting(Name)
      const now = Date.now()
      return store(secrets, Name, known ?? { createdAt: now, changedAt: now, versions: {} }, value)
    },
    PutSecretValue(input) {
      const { SecretId, ...value } = putSchema.parse(input)
      const { secrets, name, secret } = find(file, SecretId)
      return store(secrets, name, secret, value)
    },
    GetSecretValue(input) {
      const { SecretId, VersionId, VersionStage } = getSchema.parse(input)
      const { name, secret } = find(file, SecretId)
      const found = findVersion(secret, { id: VersionId, stage: VersionStage })
      if (!found)
        throw notFound(`${name} has no value for ${[VersionId, VersionStage].filter(Boolean).join(' with label ')}.`)
      const [id, version] = found
      return { ...identity(name, id, version), SecretString: version.string, CreatedDate: version.createdAt / 1_000 }
    },
  }
}

const identity = (name: string, id: string, version: SecretVersion) => ({
  ARN: secretArn(name),
  Name: name,
  VersionId: id,
  VersionStages: version.stages,
})

/** By name or by ARN. */
function find(file: SecretsFile, secretId: string): { secrets: Secrets; name: string; secret: Secret } {
  const name = secretId.startsWith(arnPrefix) ? secretId.slice(arnPrefix.length) : secretId
  const secrets = file.read()
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (secret) return { secrets, name, secret }
  throw notFound(`Secrets Manager can't find the specified secret "${name}". Create it first.`)
}

const notFound = (message: string): ServiceError => new ServiceError('ResourceNotFoundException', message)

function refuseExisting(what: string): never {
  throw new ServiceError('ResourceExistsException', `${what} exists already, with another value. Use PutSecretValue.`)
}
