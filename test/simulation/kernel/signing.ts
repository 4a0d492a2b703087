/**
 * Leaves requests to AWS unsigned: the simulated world checks no signature, and signing is a fifth of a call's
 * processor time.
 */
import { createRequire } from 'node:module'
import { currentActor } from './actor.ts'

interface Request {
  readonly headers: Record<string, string>
}
type SignRequest = (this: unknown, request: Request, options?: object) => Promise<Request>

/** The same module instance as in the SDK's clients. */
const { SignatureV4 } = createRequire(createRequire(import.meta.url).resolve('@aws-sdk/client-dynamodb'))(
  '@smithy/signature-v4',
) as { SignatureV4: { prototype: { signRequest: SignRequest } } }
const realSignRequest = SignatureV4.prototype.signRequest

/** Replaces the signer; the returned function restores the signer. */
export function replaceSigning(): () => void {
  SignatureV4.prototype.signRequest = async function signRequest(request, options) {
    if (!currentActor()) return realSignRequest.call(this, request, options)
    request.headers.authorization = 'simulated'
    return request
  }
  return () => {
    SignatureV4.prototype.signRequest = realSignRequest
  }
}
