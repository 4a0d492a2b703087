/** Leaves requests to AWS unsigned: nothing in the simulated world checks a signature, and it is a fifth of a call's processor time. */
import { createRequire } from 'node:module'
import { currentActor } from './actor.ts'

interface Request {
  readonly headers: Record<string, string>
}
type SignRequest = (this: unknown, request: Request, options?: object) => Promise<Request>

/** The very module that the SDK's clients use. */
const { SignatureV4 } = createRequire(createRequire(import.meta.url).resolve('@aws-sdk/client-dynamodb'))(
  '@smithy/signature-v4',
) as { SignatureV4: { prototype: { signRequest: SignRequest } } }
const realSignRequest = SignatureV4.prototype.signRequest

/** Replaces it; the function that is returned puts it back. */
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
