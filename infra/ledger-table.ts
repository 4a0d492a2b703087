/** The ledger: one table, two sparse indexes. Its items are the business of `shared/ledger` alone. */
import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { Construct } from 'constructs'

/** Name of the index that finds what is due. */
export const dueIndexName = 'due'

/** Name of the index that lists runs for people. */
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
      // DynamoDB encrypts always; with this key of the account, CloudTrail shows who had it used.
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: true,
      // CDK sets the policy for replacement too, and no physical name: a kept table would stand in the way of the next deploy.
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
