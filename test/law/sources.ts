/** Reads sources for the law: the imports of a file, and the names and texts in its code without comments. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'oxc-parser'

/** A source, with its path relative to the repository's root. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** A fact at a line of a source. */
export interface Located {
  readonly line: number
}

export interface Import extends Located {
  /** The specifier as written. */
  readonly specifier: string
  /** A file of the repository, a package by its name, or a module of Node.js as `node:name`. */
  readonly target: string
  /** `computed`: a lazy import whose target is only known at run time. */
  readonly kind: 'file' | 'package' | 'node' | 'computed'
  /** Imported names, types excluded. */
  readonly names: readonly string[]
  /** True if erasing types erases the whole import. */
  readonly isTypeOnly: boolean
}

export interface Word extends Located {
  readonly kind: 'identifier' | 'text'
  readonly value: string
}

export interface NumberConstant extends Located {
  readonly name: string
  /** The text of the value. */
  readonly value: string
}

export interface ReadSource {
  readonly path: string
  readonly lines: number
  /** Constants of the file that are set to a number or to arithmetic. */
  readonly numbers: readonly NumberConstant[]
  readonly imports: readonly Import[]
  readonly words: readonly Word[]
}

/** The TypeScript sources below some folders of a root, in the order of their paths. */
export function sourcesBelow(root: string, folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => ({ path: path.relative(root, file), text: readFileSync(file, 'utf8') })),
  )
}

/** Parses a source. A source with syntax errors throws, because the law could not judge it. */
export function readSource(source: Source): ReadSource {
  const { module, program, errors } = parseSync(source.path, source.text, { astType: 'ts', sourceType: 'module' })
  const [error] = errors
  if (error !== undefined) throw new Error(`${source.path} can't be parsed: ${error.message}`)
  const lineAt = (offset: number) => source.text.slice(0, offset).split('\n').length
  const located = (specifier: string, offset: number, names: readonly string[] = [], isTypeOnly = false): Import => ({
    specifier,
    line: lineAt(offset),
    names,
    isTypeOnly,
    ...resolve(source.path, specifier),
  })
  const imports = [
    ...module.staticImports.map(({ moduleRequest, entries }) =>
      located(
        moduleRequest.value,
        moduleRequest.start,
        entries.flatMap(({ importName, isType }) => (isType || importName.name === null ? [] : [importName.name])),
        entries.length > 0 && entries.every(({ isType }) => isType),
      ),
    ),
    ...module.staticExports
      .flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest))
      .filter((request) => request !== null)
      .map(({ value, start }) => located(value, start)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }): Import => {
      const expression = source.text.slice(start, end)
      const literal = /^(['"`])([^'"`$]+)\1$/.exec(expression)?.[2]
      if (literal !== undefined) return located(literal, start)
      return { specifier: expression, target: '', kind: 'computed', line: lineAt(start), names: [], isTypeOnly: false }
    }),
  ]
  const numbers = [...source.text.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]*) = ([^'"`[{\n]*\d[^'"`[{\n]*)$/gm)].map(
    ({ 1: name = '', 2: value = '', index }) => ({ name, value, line: lineAt(index) }),
  )
  const lines = source.text.trimEnd().split('\n').length
  return { path: source.path, lines, numbers, imports, words: wordsOf(program, lineAt) }
}

function resolve(importer: string, specifier: string): Pick<Import, 'target' | 'kind'> {
  if (specifier.startsWith('node:')) return { kind: 'node', target: specifier }
  if (!specifier.startsWith('.')) return { kind: 'package', target: packageOf(specifier) }
  const file = path.posix.normalize(path.posix.join(path.posix.dirname(importer), specifier))
  const inPackage = /(?:^|\/)node_modules\/(.+)$/.exec(file)?.[1]
  return inPackage === undefined ? { kind: 'file', target: file } : { kind: 'package', target: packageOf(inPackage) }
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Every identifier and every literal text of a program. */
function wordsOf(program: unknown, lineAt: (offset: number) => number): Word[] {
  const words: Word[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, start, name, value } = node as { type?: string; start: number; name?: unknown; value?: unknown }
    if (type === 'Identifier' && typeof name === 'string') {
      words.push({ kind: 'identifier', value: name, line: lineAt(start) })
    }
    if (type === 'Literal' && typeof value === 'string') words.push({ kind: 'text', value, line: lineAt(start) })
    if (type === 'TemplateElement') {
      const { cooked } = value as { cooked: string | null }
      words.push({ kind: 'text', value: cooked ?? '', line: lineAt(start) })
    }
    for (const child of Object.values(node)) visit(child)
  }
  visit(program)
  return words
}
