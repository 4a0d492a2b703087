/** Packages that all containers share, as loading them anew would cost more than the rest of a cold start. */
import { createRequire } from 'node:module'
import { configured } from './sdk.ts'

/**
 * Reviewed packages: their modules keep the same state for every caller. A package that keeps calls or tokens under way
 * would join containers that on Lambda know nothing of each other; bundle.ts bundles such a package with the rooms.
 */
const WITHOUT_STATE: readonly RegExp[] = [
  /^node:crypto$/,
  /^@aws-sdk\/(client-(dynamodb|s3|secrets-manager|sfn|sqs)|lib-dynamodb|util-dynamodb)$/,
  /^@smithy\/node-http-handler$/,
  /^@octokit\/(core|request|request-error|auth-oauth-app|auth-oauth-user|webhooks-methods)$/,
  /^(universal-user-agent|universal-github-app-jwt|toad-cache)$/,
  /^(yaml|zod)$/,
]

/**
 * Loads the packages, as CommonJS if available: the SDK's packages `require` each other, and a class must not exist
 * twice.
 */
export async function loaded(names: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const require = createRequire(import.meta.url)
  const packages = new Map<string, unknown>()
  for (const name of new Set(names)) {
    if (!WITHOUT_STATE.some((known) => known.test(name))) {
      throw new Error(
        `All containers would share ${name}. See whether its modules have state: packages.ts or bundle.ts.`,
      )
    }
    try {
      const exported = require(name)
      packages.set(name, name.startsWith('@aws-sdk/client-') ? await configured(exported) : exported)
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
      packages.set(name, await import(name))
    }
  }
  return packages
}
