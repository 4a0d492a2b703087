/** The CDK app: `cdk synth` and `cdk deploy` run this file. */
import { App } from 'aws-cdk-lib'
import { addMuster } from './muster.ts'

const app = new App()
await addMuster(app)
app.synth()
