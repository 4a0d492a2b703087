/** Synthesizes the stack once before all tests, so that test files in parallel don't each synthesize the stack. */
import { cacheDirectory } from '../cli/settings.ts'
import { loadAssembly } from '../infra/local/assembly.ts'

export default async function setup(): Promise<void> {
  await loadAssembly({ cacheDirectory })
}
