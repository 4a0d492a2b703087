/** The changes under review: the example of `npm start`, and a wide change. */
import path from 'node:path'
import { buildExampleRepository } from '../../infra/local/github/example.ts'
import { PART_LINES_MAX } from '../../shared/base/limits.ts'
import type { Change } from './bench-stack.ts'
import { makeRepository } from './history.ts'

/** The example's first head: three analyzer lenses, and findings of each. */
export async function exampleChange(directory: string): Promise<Change> {
  const { gitDirectory, base, head, title, body } = await buildExampleRepository(path.join(directory, 'example'))
  return { repository: 'acme/parcels', gitDirectory, base, head, title, body }
}

/** Files long enough that the model lens gets a part for each file. */
export async function wideChange(directory: string, parts: number): Promise<Change> {
  const gitDirectory = path.join(directory, 'wide.git')
  const files = Array.from({ length: parts }, (_, index) => [`src/module${index}.ts`, moduleOf(index)] as const)
  const [base = '', head = ''] = await makeRepository(gitDirectory, [
    { branch: 'main', message: 'Begin\n', parents: [], files: [['README.md', '# Wide\n']] },
    { branch: 'wide', message: 'Add modules\n', parents: [0], files },
  ])
  return {
    repository: 'acme/wide',
    gitDirectory,
    base: { ref: 'main', sha: base },
    head: { ref: 'wide', sha: head },
    title: 'Add modules',
    body: 'Modules, each as long as a part may be.',
  }
}

/** As many lines as a part holds. */
function moduleOf(index: number): string {
  return Array.from({ length: PART_LINES_MAX }, (_, line) => `export const value${line} = ${index + line}\n`).join('')
}
