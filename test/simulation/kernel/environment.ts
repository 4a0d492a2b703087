/** The environment that the AWS SDK reads: the simulated services' addresses, a region, credentials, and no files. */
import { createRequire } from 'node:module'

/**
 * The SDK's configuration files, by paths that don't exist: reading real files would take turns of the real event loop.
 */
const NO_FILE = '/simulated/aws'

const { externalDataInterceptor } = createRequire(createRequire(import.meta.url).resolve('@aws-sdk/client-dynamodb'))(
  '@smithy/core/config',
) as { externalDataInterceptor: { interceptFile(path: string, contents: string): void } }

/** Sets the variables of this process; the returned function restores the old values. */
export function replaceEnvironment(endpoints: Readonly<Record<string, string>>): () => void {
  externalDataInterceptor.interceptFile(NO_FILE, '')
  const wanted: Readonly<Record<string, string>> = {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'simulated',
    AWS_SECRET_ACCESS_KEY: 'simulated',
    AWS_CONFIG_FILE: NO_FILE,
    AWS_SHARED_CREDENTIALS_FILE: NO_FILE,
    ...endpoints,
  }
  const before = Object.fromEntries(
    [...Object.keys(wanted), 'AWS_PROFILE', 'AWS_SESSION_TOKEN'].map((name) => [name, process.env[name]]),
  )
  put({ AWS_PROFILE: undefined, AWS_SESSION_TOKEN: undefined, ...wanted })
  return () => put(before)
}

function put(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}
