/**
 * Our App at GitHub, for a container: opened once per version of its secret, because the client keeps installation
 * tokens.
 */
import type { SecretReader } from '../aws/secrets.ts'
import { appSecretOf } from './app-secret.ts'
import { type OpenInstallation, openGitHub } from './client.ts'
import type { GitHub } from './github.ts'

/** Opens GitHub for an installation of our App. Throws Refused `secret_missing` if the App's secret isn't filled in. */
export type OpenApp = (installationId: number, now: number) => Promise<GitHub>

/** `baseUrl` is the root of the REST API. Nothing is read before the first call. */
export function openApp(secret: SecretReader, baseUrl: string): OpenApp {
  let known: { version: string; open: OpenInstallation } | undefined
  return async (installationId, now) => {
    const { text, version } = await secret.read(now)
    if (known?.version !== version) known = { version, open: openGitHub(appSecretOf(text), { baseUrl }) }
    return known.open(installationId)
  }
}
