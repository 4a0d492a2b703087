/**
 * Applies the AWS Solutions rules (cdk-nag) to the stack at each synthesis: an unacknowledged finding stops the
 * synthesis.
 */
import { type App, type Stack, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { IConstruct } from 'constructs'
import { type Acknowledgement, acknowledgements } from './acknowledged.ts'

/**
 * Adds the rules to the app and the acknowledgements to the stack; `cdk synth` then exits 1 on any other finding.
 * Throws for an acknowledgement of an absent construct. Returns the rules, for direct use.
 */
export function addSecurityChecks(
  app: App,
  stack: Stack,
  acknowledged: readonly Acknowledgement[] = acknowledgements,
): AwsSolutionsChecks {
  for (const { id, at, reason } of acknowledged) {
    for (const path of at) Validations.of(constructAt(stack, path, id)).acknowledge({ id, reason })
  }
  const checks = new AwsSolutionsChecks(app)
  Validations.of(app).addPlugins(checks)
  return checks
}

function constructAt(stack: Stack, path: string, id: string): IConstruct {
  return path.split('/').reduce<IConstruct>((parent, name) => {
    const child = parent.node.tryFindChild(name)
    if (child !== undefined) return child
    throw new Error(`${id} is acknowledged at ${path}, which is not in the stack. Correct infra/acknowledged.ts.`)
  }, stack)
}
