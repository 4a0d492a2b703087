/** How every AWS client of ours is made: a deadline on each call, connections kept. */
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { AWS_CALL_MS } from '../limits.ts'

/** A request handler with deadlines, for any SDK client. */
export function withDeadline(): NodeHttpHandler {
  return new NodeHttpHandler({ connectionTimeout: 1_000, requestTimeout: AWS_CALL_MS, throwOnRequestTimeout: true })
}
