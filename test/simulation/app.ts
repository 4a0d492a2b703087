/** The GitHub App of the simulated world. */
import { generateKeyPairSync } from 'node:crypto'
import type { AppIdentity } from '../../infra/local/github/authentication.ts'

/** A short key: no attacker exists here, and containers sign after each cold start. */
const KEY_BITS = 1_024

/** Made once a process: no trace holds its bytes. */
export const app: AppIdentity = {
  id: 4711,
  slug: 'muster',
  privateKey: generateKeyPairSync('rsa', { modulusLength: KEY_BITS })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString(),
  webhookSecret: 'the secret of the simulated webhooks',
}

/** The secret's text in Secrets Manager. */
export const appSecret = JSON.stringify({
  appId: app.id,
  privateKey: app.privateKey,
  webhookSecrets: [app.webhookSecret],
})
