/** How every log of the stack is kept. */
import { RemovalPolicy } from 'aws-cdk-lib'
import type { LogGroupProps, RetentionDays } from 'aws-cdk-lib/aws-logs'

/** Logs go with the stack: the record of what was said is the ledger, which stays. */
export function keptLogs(retention: RetentionDays): LogGroupProps {
  return { retention, removalPolicy: RemovalPolicy.DESTROY }
}
