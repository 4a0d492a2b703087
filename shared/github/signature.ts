/** Checks the signature of a delivery. No part of the computation leaves this file (AW92). */
import { verifyWithFallback } from '@octokit/webhooks-methods'

/** True if `signature` (`sha256=…`) signs the exact text of `body` with one of the secrets; a rotation has two. */
export async function isSigned(secrets: readonly string[], body: string, signature: string): Promise<boolean> {
  const [secret, ...others] = secrets.filter((known) => known !== '')
  return secret !== undefined && verifyWithFallback(secret, body, signature, others)
}
