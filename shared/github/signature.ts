/** Whether a delivery was signed with one of our secrets. Nothing of the computation leaves this file (AW92). */
import { verify } from '@octokit/webhooks-methods'

/** True if `signature` (`sha256=…`) is that of `body`'s exact text under any of the secrets: one, or old and new (rotation). */
export async function isSigned(secrets: readonly string[], body: string, signature: string): Promise<boolean> {
  for (const secret of secrets) {
    if (secret !== '' && (await verify(secret, body, signature))) return true
  }
  return false
}
