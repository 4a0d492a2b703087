/** The repository as its pages see it: its files, its pages, and the words in its sources. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'oxc-parser'

const root = path.resolve(import.meta.dirname, '../..')

/** Folders that git ignores, and git's own. */
const IGNORED = ['.git', '.muster', 'cdk.out', 'node_modules']

/** Every file of the repository, by its path from the root, sorted. */
export const files: readonly string[] = below('').sort()

/** The pages for people. */
export const pages = files.filter((file) => /^(docs\/[^/]+|README|CONTRIBUTING)\.md$/.test(file))

export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

/** The comments of a source, each of several lines as one. */
export function commentsOf(file: string): string[] {
  return parseSync(file, read(file)).comments.map(({ value }) =>
    value.replace(/^[*\s]+/, '').replace(/\s*\n\s*\*?\s*/g, ' '),
  )
}

/** The comments and literal texts of a source: its words. */
export function wordsOf(file: string): string[] {
  return [...commentsOf(file), ...literalsIn(parseSync(file, read(file)).program)]
}

function below(folder: string): string[] {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true })
  return entries
    .filter(({ name }) => !IGNORED.includes(name))
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name)
      return entry.isDirectory() ? below(file) : [file]
    })
}

function literalsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { type, value } = node as { type?: string; value?: unknown }
  if (type === 'Literal' && typeof value === 'string') return [value]
  if (type === 'TemplateElement') return [(value as { cooked: string | null }).cooked ?? '']
  return Object.values(node).flatMap(literalsIn)
}
