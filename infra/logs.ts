/** The retention of every log of the stack. */
import { RemovalPolicy } from 'aws-cdk-lib'
import type { LogGroupProps, RetentionDays } from 'aws-cdk-lib/aws-logs'

/** Logs are deleted with the stack: the ledger is the record, and stays. */
export function keptLogs(retention: RetentionDays): LogGroupProps {
  return { retention, removalPolicy: RemovalPolicy.DESTROY }
}
