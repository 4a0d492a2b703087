/** Whether a delivery was signed with one of our secrets. Nothing of the computation leaves this file (AW92). */
import { verifyWithFallback } from '@octokit/webhooks-methods'

/** True if `signature` (`sha256=…`) is that of `body`'s exact text under any of the secrets: one, or old and new (rotation). */
export async function isSigned(secrets: readonly string[], body: string, signature: string): Promise<boolean> {
  const [secret, ...others] = secrets.filter((known) => known !== '')
  return secret !== undefined && verifyWithFallback(secret, body, signature, others)
}
