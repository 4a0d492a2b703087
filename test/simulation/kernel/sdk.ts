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

type Configuration = Record<string, unknown>
type ClientClass = new (configuration: Configuration) => { readonly config: Configuration; destroy(): void }

/** The package's exports, with the client among them replaced by one that is configured already. */
export async function configured(exported: object): Promise<object> {
  const found = Object.entries(exported).find(([name]) => /^[A-Z]\w*Client$/.test(name) && !name.startsWith('__'))
  if (!found) return exported
  const [name, Client] = found as [string, ClientClass]
  const shared = await sharedOf(Client)
  const Configured = class extends Client {
    constructor(configuration: Configuration) {
      super({ ...shared, ...configuration })
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
    return { ...Object.fromEntries(settings), credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' } }
  } finally {
    undo()
  }
}
