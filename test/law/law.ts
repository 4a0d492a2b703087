/**
 * The import law: which sources may import which. A source belongs to the first zone with a matching path, and imports
 * only targets that the zone allows. Everything else is forbidden, so a new kind of file needs a new zone here.
 */
import type { Import, ReadSource } from './sources.ts'

interface Zone {
  /** The kind of sources in the zone. */
  readonly name: string
  /** Paths of the zone's sources. */
  readonly holds: RegExp
  /** The allowed imports: files of the repository, packages, modules of Node.js, each as `Import.target`. */
  readonly allows: (target: string, importer: string, isTypeOnly: boolean) => boolean
  /** The rule in words, for the message of a breach. */
  readonly rule: string
}

/** Folders of pure vocabulary in `shared`: each folder imports its own files and the folders before it. */
export const subjects = ['base', 'findings', 'runs', 'verdict', 'fleet', 'publishing'] as const

/** Paths of the pure vocabulary. */
export const pureFile = new RegExp(`^shared/(${subjects.join('|')})/[^/]+\\.ts$`)

/** Modules of Node.js and packages for pure code: digests, and schemas of data. */
const pureLibraries = ['node:crypto', 'zod']

/** The SDK of each adapter. */
const sdks: Readonly<Record<string, readonly RegExp[]>> = {
  ledger: [/^@aws-sdk\/(client-dynamodb|lib-dynamodb|util-dynamodb)$/],
  documents: [/^@aws-sdk\/client-s3$/, /^@smithy\//],
  github: [/^@octokit\//],
  aws: [/^@aws-sdk\/client-(sqs|sfn|secrets-manager)$/, /^@aws-lambda-powertools\//, /^@smithy\//],
}

/** Adapters whose steps `shared/coordinator` combines. */
const coordinated = /^shared\/(ledger|documents|aws|coordinator)\//

/** Packages without effects that a room's core may use: the parser of `.github/muster.yml`. */
const coreLibraries = ['yaml']

/** The most lines of a handler: reading, deciding by the core, doing, answering. */
const HANDLER_LINES_MAX = 80

/** Analyzers and clients of models, for the one room that uses them. */
const lensLibraries = [/^@secretlint\//, /^@tktco\/node-actionlint$/, /^yaml$/, /^ai$/, /^@ai-sdk\//, /^node:/, /^zod$/]

const isCore = (file: string) => /^functions\/[^/]+\/core\//.test(file)
const isLensSide = (file: string) => /^functions\/review\/(lenses|models)\//.test(file)
/** Sources that end in the bundle of a function. */
const isBundled = (file: string) => /^(functions|shared)\//.test(file)
const isPure = (target: string) => pureFile.test(target) || pureLibraries.includes(target)
const subjectOf = (file: string) => subjects.findIndex((subject) => file.startsWith(`shared/${subject}/`))
const roomOf = (file: string) => /^functions\/[^/]+\//.exec(file)?.[0] ?? ''

const zones: readonly Zone[] = [
  {
    name: 'pure vocabulary',
    holds: pureFile,
    allows: (target, importer) => isPure(target) && subjectOf(target) <= subjectOf(importer),
    rule: `pure files import node:crypto, zod, and pure files of their own folder or of one before it: ${subjects.join(', ')}`,
  },
  {
    name: 'coordinator',
    holds: /^shared\/coordinator\//,
    allows: (target) => isPure(target) || coordinated.test(target),
    rule: 'the coordinator imports pure files and the adapters ledger, documents and aws, and no SDK',
  },
  {
    name: 'adapter',
    holds: /^shared\/(ledger|documents|github|aws)\//,
    allows: (target, importer) => {
      const adapter = importer.split('/')[1] ?? ''
      const isOwn = target.startsWith(`shared/${adapter}/`) || target.startsWith('shared/aws/')
      return isPure(target) || isOwn || (sdks[adapter] ?? []).some((sdk) => sdk.test(target))
    },
    rule: 'an adapter imports pure files, its own folder, shared/aws and its own SDK',
  },
  {
    name: 'core',
    holds: /^functions\/[^/]+\/core\/[^/]+\.ts$/,
    allows: (target, importer, isTypeOnly) => {
      const isOwnCore = isCore(target) && target.startsWith(roomOf(importer))
      // Adapters read the facts of a core, so a core may name the types of these facts.
      const isTypeOfFacts = isTypeOnly && target.startsWith('shared/')
      return isPure(target) || isOwnCore || isTypeOfFacts || coreLibraries.includes(target)
    },
    rule: 'a core imports files of its own core, pure files, yaml, and types of shared',
  },
  {
    name: 'room',
    holds: /^functions\/[^/]+\/[^/]+\.ts$/,
    allows: (target, importer) => isPure(target) || target.startsWith('shared/') || target.startsWith(roomOf(importer)),
    rule: 'a room imports its own files, adapters and pure files; no room imports another',
  },
  {
    name: 'lens',
    holds: /^functions\/review\/(lenses|models)\//,
    allows: (target) => isPure(target) || isLensSide(target) || lensLibraries.some((library) => library.test(target)),
    rule: 'a lens imports other files of lenses and models, pure files and its analyzer; it holds no adapter',
  },
  {
    name: 'local stand-in',
    holds: /^infra\/local\//,
    allows: (target) => target.startsWith('infra/') || pureFile.test(target) || isOutside(target),
    rule: 'infra/local imports infra, pure files and libraries; functions reach it as bundles only',
  },
  {
    name: 'infrastructure',
    holds: /^infra\/[^/]+\.ts$/,
    allows: (target) => /^infra\/[^/]+\.ts$/.test(target) || isOutside(target),
    rule: 'infra imports infra and libraries, no function code and nothing of infra/local',
  },
  {
    name: 'command line',
    holds: /^cli\//,
    allows: (target) =>
      target.startsWith('cli/') || target.startsWith('infra/') || pureFile.test(target) || isOutside(target),
    rule: 'cli imports cli, infra, infra/local, pure files and libraries',
  },
]

/** Folders under the law. */
export const lawFolders = ['functions', 'shared', 'infra', 'cli']

const rootFolders = /^(functions|shared|infra|cli|test|bench|docs)\//

/** A package or a module of Node.js. */
function isOutside(target: string): boolean {
  return !rootFolders.test(target)
}

/** Key prefixes of the table's items: only the ledger composes keys. */
const tableKey = /^(RUN|REVIEW|PR|EVENT|ENTRY|FINDING|MESSAGE|SHOWN|FLEET|WAITING|QUEUE|POOL|HALT|DUE)#/

const keyNames = ['pk', 'sk', 'duePk', 'listedPk']

/** The name of a bound, a time or a size, by the unit at its end. */
const limitName = /_(?:MS|S|BYTES|CHARS|MAX|MIN)(?:_(?:MAX|MIN|DEFAULT))?$/

/** Units of time by which code converts, and parts of another limit. */
const isConverted = (name: string, value: string) => /^(?:SECOND|MINUTE|HOUR)_MS$/.test(name) || /[A-Z]{2}/.test(value)

const endpointVariable = /AWS_ENDPOINT_URL|AWS_USE_.*_ENDPOINT|LOCALSTACK/

const localWord = /(?:^|[^a-z])(?:is|Is|IS_?)?(?:[Ll]ocal|LOCAL)(?:[A-Z_]|$)|localhost|127\.0\.0\.1/

/**
 * Every breach of the law, as `file:line: what — rule`. `packages` are the names in package.json: a dependency of a
 * dependency must not be imported.
 */
export function breaches(sources: readonly ReadSource[], packages: ReadonlySet<string>): string[] {
  return sources.flatMap((source) => [
    ...source.imports.flatMap((each) =>
      importBreaches(source, each, packages).map((why) => said(source, each.line, why)),
    ),
    ...wordBreaches(source),
    ...lengthBreaches(source),
    ...limitBreaches(source),
  ])
}

/** Circles of imports between sources, types included: each as its files in the order of the imports. */
export function circles(sources: readonly ReadSource[]): string[][] {
  const imported = new Map(
    sources.map(({ path, imports }) => [
      path,
      [...new Set(imports.flatMap(({ kind, target }) => (kind === 'file' ? [target] : [])))],
    ]),
  )
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, way: readonly string[]): void => {
    const from = way.indexOf(file)
    if (from >= 0) found.push(way.slice(from))
    if (from >= 0 || done.has(file)) return
    for (const target of imported.get(file) ?? []) visit(target, [...way, file])
    done.add(file)
  }
  for (const file of imported.keys()) visit(file, [])
  return found
}

function limitBreaches(source: ReadSource): string[] {
  if (!isBundled(source.path) || source.path === 'shared/base/limits.ts') return []
  return source.numbers
    .filter(({ name, value }) => limitName.test(name) && !isConverted(name, value))
    .map(({ name, line }) =>
      said(source, line, `sets ${name} — a bound, a time or a size stands in shared/base/limits.ts`),
    )
}

function lengthBreaches({ path, lines }: ReadSource): string[] {
  if (!/^functions\/[^/]+\/handler\.ts$/.test(path) || lines <= HANDLER_LINES_MAX) return []
  return [`${path}:${lines}: has ${lines} lines — a handler has ${HANDLER_LINES_MAX} at most`]
}

function importBreaches(
  source: ReadSource,
  { target, kind, specifier, names, isTypeOnly }: Import,
  packages: ReadonlySet<string>,
): string[] {
  if (kind === 'computed') return computedBreaches(source, specifier)
  const zone = zones.find(({ holds }) => holds.test(source.path))
  const found: string[] = []
  if (zone === undefined) found.push(`imports ${specifier} — this file is in no zone of test/law/law.ts: give it one`)
  else if (!zone.allows(target, source.path, isTypeOnly)) found.push(`imports ${specifier} — ${zone.rule}`)
  if (kind === 'package' && !packages.has(target)) {
    found.push(`imports ${specifier} — a package that is imported is declared in package.json`)
  }
  if (target === 'zod' && names.includes('z') && isBundled(source.path)) {
    found.push(
      `imports { z } from zod — write import * as z from 'zod': the other way brings all of zod, 350 KB, into each bundle`,
    )
  }
  return found
}

/** Neither the law nor the bundle can see a computed target. The local engine may use one to load bundles. */
function computedBreaches(source: ReadSource, expression: string): string[] {
  if (source.path.startsWith('infra/local/')) return []
  return [`imports ${expression} — a lazy import names its module as a literal`]
}

function wordBreaches(source: ReadSource): string[] {
  if (!isBundled(source.path)) return []
  return source.words.flatMap(({ kind, value, line }) => {
    const found: string[] = []
    const isKey = kind === 'text' ? tableKey.test(value) : keyNames.includes(value)
    if (isKey && !source.path.startsWith('shared/ledger/')) {
      found.push(said(source, line, `says ${value} — keys of the table are composed in shared/ledger only`))
    }
    if (endpointVariable.test(value)) {
      found.push(said(source, line, `says ${value} — where a service is, is the business of its SDK`))
    }
    if (kind === 'identifier' ? localWord.test(value) : /^local$|localhost|127\.0\.0\.1/i.test(value)) {
      found.push(said(source, line, `says ${value} — no function knows whether it runs on one machine`))
    }
    return found
  })
}

function said(source: ReadSource, line: number, why: string): string {
  return `${source.path}:${line}: ${why}`
}
