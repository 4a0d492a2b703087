/** The documents bucket: content by digest, written before the item that names the digest. */
import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'

/** Days until an unfinished upload is removed. */
const unfinishedUploadDays = 7

/** Days that replaced content is kept where an organisation's policy has switched versions on. */
const replacedContentDays = 30

export class DocumentsBucket extends Construct {
  readonly bucket: Bucket

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // Not versioned: a key is the digest of its content, so a second write brings the same content.
      versioned: false,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        {
          abortIncompleteMultipartUploadAfter: Duration.days(unfinishedUploadDays),
          noncurrentVersionExpiration: Duration.days(replacedContentDays),
        },
      ],
    })
  }
}
