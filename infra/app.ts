/** The CDK app: `cdk synth` and `cdk deploy` run this file. */
import { App } from 'aws-cdk-lib'
import { addMuster } from './muster.ts'
import { addSecurityChecks } from './security-checks.ts'

const app = new App()
addSecurityChecks(app, await addMuster(app))
app.synth()
