/** Puts Muster into a CDK app: settings from the context, the bundles, the stack. */
import path from 'node:path'
import type { App } from 'aws-cdk-lib'
import { bundleRooms, placeholderBundles, repositoryRoot } from './bundle.ts'
import { settingsFromContext } from './settings.ts'
import { MusterStack } from './stack.ts'

export const stackName = 'Muster'

/** The folder of the bundles and their metafiles inside the cloud assembly. */
export const bundlesFolder = 'bundles'

/** The context key by which the CDK names the stacks that need code: an empty list for `cdk list` or `cdk destroy`. */
const bundlingStacksKey = 'aws:cdk:bundling-stacks'

/**
 * Bundles the rooms into the app's output folder and adds the stack; the caller synthesizes. With an empty list as
 * `aws:cdk:bundling-stacks` the functions get a placeholder, which takes no time.
 */
export async function addMuster(
  app: App,
  roomsDirectory = path.join(repositoryRoot, 'functions'),
): Promise<MusterStack> {
  const settings = settingsFromContext(app.node)
  const outputDirectory = path.join(app.outdir, bundlesFolder)
  const wanted: unknown = app.node.tryGetContext(bundlingStacksKey)
  const bundles =
    Array.isArray(wanted) && wanted.length === 0
      ? await placeholderBundles(outputDirectory)
      : await bundleRooms({ roomsDirectory, outputDirectory })
  return new MusterStack(app, stackName, {
    description: 'Muster: a fleet of code reviewers',
    bundles,
    settings,
  })
}
