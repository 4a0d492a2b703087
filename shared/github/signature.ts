/** Checks the signature of a delivery. No part of the computation leaves this file (AW92). */
import { verify } from '@octokit/webhooks-methods'

/** True if `signature` (`sha256=…`) signs the exact text of `body` with one of the secrets; a rotation has two. */
export async function isSigned(secrets: readonly string[], body: string, signature: string): Promise<boolean> {
  for (const secret of secrets) {
    if (secret !== '' && (await verify(secret, body, signature))) return true
  }
  return false
}
