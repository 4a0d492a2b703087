/**
 * The SDK's clients with their configuration already found. What a client finds out in its first call, by asking its
 * environment for two dozen settings in turn, is the same for each container here, and most of a cold start's time.
 */
import { replaceEnvironment } from './environment.ts'

/** Settings whose providers are without state once they were asked. The strategy of retries has state, and stays the client's own. */
const SHARED = [
  'accountIdEndpointMode',
  'authSchemePreference',
  'defaultUserAgentProvider',
  'defaultsMode',
  'disableClockSkewCorrection',
  'disableS3ExpressSessionAuth',
  'endpointDiscoveryEnabledProvider',
  'maxAttempts',
  'region',
  'requestChecksumCalculation',
  'responseChecksumValidation',
  'retryMode',
  'sigv4aSigningRegionSet',
  'useArnRegion',
  'useDualstackEndpoint',
  'useFipsEndpoint',
  'userAgentAppId',
]

/** Steps of a call that only describe it to AWS's own logs. */
const DECORATION = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']

/** Nothing in the simulated world checks a signature, and making one is a fifth of a call's processor time. */
const signer = {
  async sign(request: { readonly headers: Record<string, string> }) {
    request.headers.authorization = 'simulated'
    return request
  },
}

type Configuration = Record<string, unknown>
interface Client {
  readonly config: Configuration
  readonly middlewareStack: { remove(name: string): boolean }
  destroy(): void
}
type ClientClass = new (configuration: Configuration) => Client

/** The package's exports, with the client among them replaced by one that is configured already. */
export async function configured(exported: object): Promise<object> {
  const found = Object.entries(exported).find(([name]) => /^[A-Z]\w*Client$/.test(name) && !name.startsWith('__'))
  if (!found) return exported
  const [name, Client] = found as [string, ClientClass]
  const shared = await sharedOf(Client)
  const Configured = class extends Client {
    constructor(configuration: Configuration) {
      super({ ...shared, ...configuration })
      for (const step of DECORATION) this.middlewareStack.remove(step)
    }
  }
  return { ...exported, [name]: Configured }
}

/** Asked once a process, so that the first world is not another one than those after it. */
async function sharedOf(Client: ClientClass): Promise<Configuration> {
  const undo = replaceEnvironment({})
  try {
    const client = new Client({})
    const settings = SHARED.filter((name) => client.config[name] !== undefined).map((name) => [
      name,
      client.config[name],
    ])
    for (const [, provider] of settings) if (typeof provider === 'function') await provider()
    client.destroy()
    const credentials = { accessKeyId: 'simulated', secretAccessKey: 'simulated' }
    return { ...Object.fromEntries(settings), credentials, signer }
  } finally {
    undo()
  }
}
