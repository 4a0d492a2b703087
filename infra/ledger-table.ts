/** The ledger: one table, two sparse indexes. `shared/ledger` alone knows the items. */
import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { Construct } from 'constructs'

/** The index of due items. */
export const dueIndexName = 'due'

/** The index that lists runs for people. */
export const listedIndexName = 'listed'

export class LedgerTable extends Construct {
  readonly table: Table

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // DynamoDB always encrypts; with this key of the account, CloudTrail records the key's use.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: true,
      // CDK sets the policy for replacement too. The table has no physical name: a kept table would block the next
      // deploy.
      removalPolicy: RemovalPolicy.RETAIN,
      timeToLiveAttribute: 'expiresAt',
    })
    this.table.addGlobalSecondaryIndex({
      indexName: dueIndexName,
      partitionKey: { name: 'duePk', type: AttributeType.STRING },
      sortKey: { name: 'dueAt', type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    })
    this.table.addGlobalSecondaryIndex({
      indexName: listedIndexName,
      partitionKey: { name: 'listedPk', type: AttributeType.STRING },
      sortKey: { name: 'listedAt', type: AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    })
  }
}
