/** Before all tests: the stack is synthesized once, so that the files that start it side by side don't each do it. */
import { cacheDirectory } from '../cli/settings.ts'
import { loadAssembly } from '../infra/local/assembly.ts'

export default async function setup(): Promise<void> {
  await loadAssembly({ cacheDirectory })
}
