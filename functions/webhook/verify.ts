/** Verifies GitHub's signature of a delivery. */
import type { Log } from '../../shared/aws/log.ts'
import type { SecretReader } from '../../shared/aws/secrets.ts'
import { Refused } from '../../shared/base/errors.ts'
import { appSecretOf } from '../../shared/github/app-secret.ts'
import { isSigned } from '../../shared/github/signature.ts'
import type { Delivery } from './core/request.ts'

const REMEDY = 'Use the same webhook secret in the GitHub App and in the stack’s secret.'

/** Throws Refused for a missing or wrong signature. After a mismatch the secret is read again: a rotation may have changed it. */
export async function verify(
  { appSecret, log }: { readonly appSecret: SecretReader; readonly log: Log },
  { id, body, bodyBytes, contentType, signature }: Delivery,
  { base64, signal }: { readonly base64: boolean; readonly signal: AbortSignal },
): Promise<void> {
  if (signature === undefined) throw new Refused('signature_missing', 'X-Hub-Signature-256 is missing.', REMEDY)
  for (const read of [appSecret.read, appSecret.refresh]) {
    const { text, version } = await read(Date.now(), signal)
    if (await isSigned(appSecretOf(text).webhookSecrets, body, signature)) return
    log.warn('A signature did not match', {
      deliveryId: id,
      bytes: bodyBytes,
      contentType,
      base64,
      signaturePresent: true,
      secretVersion: version,
    })
  }
  throw new Refused('signature_mismatch', 'The signature does not match the body under any known secret.', REMEDY)
}
