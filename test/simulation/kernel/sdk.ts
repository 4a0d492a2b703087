/**
 * The SDK's clients with shared configuration. A client's first call reads two dozen settings from the environment,
 * which takes most of a cold start's time and gives the same result in each container.
 */
import { replaceEnvironment } from './environment.ts'

/**
 * Settings whose providers keep no state after the first read. The retry strategy has state, and stays the client's
 * own.
 */
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

/** Steps of a call that only describe the call to AWS's own logs. */
const DECORATION = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']

/** The simulated world checks no signature, and signing is a fifth of a call's processor time. */
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

/** The package's exports, with the client replaced by a configured client. */
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

/** Read once per process, so that the first world equals every later world. */
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
