/** The GitHub App of the simulated world. */
import { generateKeyPairSync } from 'node:crypto'
import type { AppIdentity } from '../../infra/local/github/authentication.ts'

/** Short, as nobody attacks it: containers sign with it after each cold start. */
const KEY_BITS = 1_024

/** Made once a process: its bytes are in no trace. */
export const app: AppIdentity = {
  id: 4711,
  slug: 'muster',
  privateKey: generateKeyPairSync('rsa', { modulusLength: KEY_BITS })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString(),
  webhookSecret: 'the secret of the simulated webhooks',
}

/** As it stands in Secrets Manager. */
export const appSecret = JSON.stringify({
  appId: app.id,
  privateKey: app.privateKey,
  webhookSecrets: [app.webhookSecret],
})
