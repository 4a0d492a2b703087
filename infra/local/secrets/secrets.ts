/**
 * AWS Secrets Manager on one machine, as far as Muster needs it: create, put, get and describe, over a file that only
 * its owner can read. Rotation, deletion and policies don't exist here.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Action, jsonListener, ServiceError } from '../json-protocol.ts'
import { type LocalService, serve } from '../service.ts'
import { openSecretsFile, type Secret, type Secrets, type SecretsFile, type SecretVersion } from './file.ts'
import { currentStage, findVersion, withVersion } from './versions.ts'

export interface SecretsOptions {
  /** The JSON file; made with mode 0600 if absent. One process at a time. */
  readonly file: string
  /** 0 or absent: any free port. */
  readonly port?: number
  /** Is told of a file that others could read; by default the process's error output. */
  readonly warn?: (sentence: string) => void
}

/** A secret has at most 65,536 bytes (Secrets Manager quotas), as JSON or base64 at most six times as many. */
const secretBytesMax = 65_536
const requestBytesMax = 8 * secretBytesMax

const arnPrefix = 'arn:aws:secretsmanager:local:000000000000:secret:'

/** The ARN of the secret called `name`. Unlike AWS's, it has no random end: a name is never used twice here. */
export const secretArn = (name: string): string => `${arnPrefix}${name}`

const valueSchema = z.object({
  ClientRequestToken: z.string().min(32).max(64).optional(),
  SecretString: z.string().optional(),
  /** base64 on the wire */
  SecretBinary: z.string().optional(),
})
const createSchema = valueSchema.extend({
  Name: z.string().regex(/^(?!__proto__$)[\w/+=.@-]{1,512}$/, 'must be 1 to 512 letters, digits and /_+=.@-'),
  Description: z.string().optional(),
})
const idSchema = z.object({ SecretId: z.string() })
const putSchema = valueSchema.extend({ ...idSchema.shape, VersionStages: z.array(z.string().min(1)).min(1).optional() })
const getSchema = idSchema.extend({ VersionId: z.string().optional(), VersionStage: z.string().optional() })

/** Serves the secrets until closed. Rejects with `secrets_file_invalid` for a file it can't read, `EADDRINUSE` for a port in use. */
export async function startSecrets(options: SecretsOptions): Promise<LocalService> {
  const file = openSecretsFile(options.file, options.warn ?? console.warn)
  const listener = jsonListener({
    target: 'secretsmanager',
    version: '1.1',
    errorNamespace: 'com.amazonaws.secretsmanager',
    bodyBytesMax: requestBytesMax,
    actions: secretsActions(file),
  })
  return serve(listener, options.port)
}

function secretsActions(file: SecretsFile): Record<string, Action> {
  return {
    CreateSecret(input) {
      const { Name, Description, ...value } = createSchema.parse(input)
      const secrets = file.read()
      const known = Object.hasOwn(secrets, Name) ? secrets[Name] : undefined
      if (known) return repeated(known, Name, value) ?? refuseExisting(Name)
      const now = Date.now()
      const empty: Secret = {
        createdAt: now,
        changedAt: now,
        versions: {},
        ...(Description === undefined ? {} : { description: Description }),
      }
      if (value.SecretString === undefined && value.SecretBinary === undefined) {
        file.write({ ...secrets, [Name]: empty })
        return { ARN: secretArn(Name), Name }
      }
      return store(file, secrets, Name, empty, value, [currentStage])
    },
    PutSecretValue(input) {
      const { SecretId, VersionStages, ...value } = putSchema.parse(input)
      const { secrets, name, secret } = find(file, SecretId)
      const again = repeated(secret, name, value)
      if (again) return again
      const token = value.ClientRequestToken
      if (token !== undefined && Object.hasOwn(secret.versions, token)) refuseExisting(`${name}, version ${token}`)
      return store(file, secrets, name, secret, value, VersionStages ?? [currentStage])
    },
    GetSecretValue(input) {
      const { SecretId, VersionId, VersionStage } = getSchema.parse(input)
      const { name, secret } = find(file, SecretId)
      const found = findVersion(secret, { id: VersionId, stage: VersionStage })
      if (!found) {
        const wanted = [VersionId && `version ${VersionId}`, VersionStage ?? (VersionId ? '' : currentStage)].filter(
          Boolean,
        )
        throw notFound(`${name} has no value for ${wanted.join(' with label ')}. Put one with PutSecretValue.`)
      }
      const [id, version] = found
      return {
        ...identity(name, id, version),
        SecretString: version.string,
        SecretBinary: version.binary,
        CreatedDate: seconds(version.createdAt),
      }
    },
    DescribeSecret(input) {
      const { name, secret } = find(file, idSchema.parse(input).SecretId)
      const stages = Object.entries(secret.versions).map(([id, version]) => [id, version.stages])
      return {
        ARN: secretArn(name),
        Name: name,
        Description: secret.description,
        CreatedDate: seconds(secret.createdAt),
        LastChangedDate: seconds(secret.changedAt),
        VersionIdsToStages: Object.fromEntries(stages),
      }
    },
  }
}

type Value = z.infer<typeof valueSchema>

function store(
  file: SecretsFile,
  secrets: Secrets,
  name: string,
  secret: Secret,
  value: Value,
  stages: string[],
): object {
  const { SecretString, SecretBinary } = value
  if ((SecretString === undefined) === (SecretBinary === undefined)) {
    throw new ServiceError('InvalidRequestException', 'Give either SecretString or SecretBinary, and not both.')
  }
  const bytes =
    SecretString === undefined ? Buffer.from(SecretBinary ?? '', 'base64').length : Buffer.byteLength(SecretString)
  if (bytes > secretBytesMax) {
    throw new ServiceError('InvalidParameterException', `A secret may have ${secretBytesMax} bytes. Store less.`)
  }
  const id = value.ClientRequestToken ?? randomUUID()
  const content = SecretString === undefined ? { binary: SecretBinary } : { string: SecretString }
  // The first value is current, whatever it is labelled.
  const labels = Object.keys(secret.versions).length === 0 ? [...new Set([...stages, currentStage])] : stages
  const version = { createdAt: Date.now(), stages: labels, ...content } as SecretVersion
  file.write({ ...secrets, [name]: withVersion(secret, id, version) })
  return identity(name, id, version)
}

/** The answer to a request that was carried out already: the same token with the same value. */
function repeated(secret: Secret, name: string, value: Value): object | undefined {
  const id = value.ClientRequestToken
  const version = id !== undefined && Object.hasOwn(secret.versions, id) ? secret.versions[id] : undefined
  const same = version?.string === value.SecretString && version?.binary === value.SecretBinary
  return id !== undefined && version && same ? identity(name, id, version) : undefined
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

/** Timestamps on the wire: seconds since 1970, with a fraction. */
const seconds = (ms: number): number => ms / 1_000
