/**
 * All rooms as one script: each evaluation is a cold start with module state of its own. Two kinds of modules are
 * loaded once and shared: the pure folders of shared/, stateless by the import law, and packages whose modules keep
 * nothing of a call.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { build, type Plugin } from 'esbuild'
import { repositoryRoot } from '../../../infra/bundle.ts'
import { type RoomName, roomNames } from '../../../infra/rooms.ts'
import type { Failpoint } from '../../../shared/base/failpoints.ts'
import type { Lens, LensName } from '../../../shared/findings/lens.ts'
import { pureFile, subjects } from '../../law/law.ts'
import { type Change, changedFile, changeOfProcess, pathOf } from '../../mutants/change.ts'
import { loaded } from './packages.ts'

/** Functions of the simulation that replace parts of the rooms' code. */
export interface RoomHooks {
  /** Replaces functions/review/lenses: analyzers would take real time, and models answer over real streams. */
  lensOf(name: LensName): Promise<Lens>
  log(level: 'info' | 'warn' | 'error', message: string, fields: object): void
  /** Called at each failpoint; the room goes on when the promise has settled. */
  reached(point: Failpoint): Promise<void> | undefined
}

export type Handler = (event: unknown, context: object) => unknown

/** Loads one room, and all our code with state, anew in this environment. Returns the room's handler. */
export type ColdStart = (room: RoomName, environment: Readonly<Record<string, string>>, hooks: RoomHooks) => Handler

type Modules = Readonly<Record<string, () => unknown>>
type Evaluate = (
  require: (name: string) => unknown,
  module: { exports: Modules },
  process: object,
  simulation: RoomHooks | undefined,
) => void

/** Bundles the rooms, with the change that is to be judged, if any; once per process is enough. */
export async function bundleRooms(change: Change | undefined = changeOfProcess()): Promise<ColdStart> {
  const plugins = change ? [replacements, mutant(change)] : [replacements]
  const files = subjects.flatMap((subject) =>
    readdirSync(path.join(repositoryRoot, 'shared', subject)).map((file) => `./shared/${subject}/${file}`),
  )
  const shared = await script('vocabulary', files, plugins)
  const handlers = roomNames.map((room) => `./functions/${room}/handler.ts`)
  const rooms = await script('rooms', handlers, [...plugins, vocabulary])

  const packages = await loaded([...shared.packages, ...rooms.packages])
  const words = { exports: {} as Modules }
  shared.evaluate((name) => packages.get(name), words, {}, undefined)
  const known = new Map([...packages, ...Object.entries(words.exports).map(([name, load]) => [name, load()] as const)])
  const require = (name: string) => known.get(name)
  return (room, environment, hooks) => {
    const modules = { exports: {} as Modules }
    rooms.evaluate(require, modules, { env: environment }, hooks)
    const load = modules.exports[`./functions/${room}/handler.ts`] as () => { handler: Handler }
    return load().handler
  }
}

/** A `require` evaluates its bundled module at the call, so a container loads its own room only. */
async function script(name: string, modules: readonly string[], plugins: Plugin[]) {
  const entry = modules.map((module) => `${JSON.stringify(module)}: () => require(${JSON.stringify(module)}),`)
  const { outputFiles, metafile } = await build({
    absWorkingDir: repositoryRoot,
    stdin: { contents: `module.exports = {${entry.join('\n')}}`, resolveDir: repositoryRoot, loader: 'ts' },
    write: false,
    metafile: true,
    bundle: true,
    packages: 'external',
    plugins,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    logLevel: 'silent',
  })
  const code = `(function (require, module, process, simulation) {${outputFiles[0]?.text ?? ''}\n})`
  return {
    evaluate: new Script(code, { filename: path.join(repositoryRoot, `${name}.cjs`) }).runInThisContext() as Evaluate,
    packages: Object.values(metafile.outputs)
      .flatMap(({ imports }) => imports.map((each) => each.path))
      .filter((each) => !each.startsWith('./shared/')),
  }
}

/** Replacements of modules whose real code would do input or output, or listen. */
const sources: Readonly<Record<string, string>> = {
  lenses: 'export const lensOf = (name) => simulation.lensOf(name)',
  failpoints: 'export const failpoint = (name) => simulation.reached(name)',
  '@aws-lambda-powertools/logger': `export class Logger {
    info(message, fields) { simulation.log('info', message, fields) }
    warn(message, fields) { simulation.log('warn', message, fields) }
    error(message, fields) { simulation.log('error', message, fields) }
  }`,
  '@aws-lambda-powertools/metrics': `export const MetricUnit = { Milliseconds: 'Milliseconds', Count: 'Count' }
  export class Metrics {
    #stored = {}
    addMetric(name, unit, value) { this.#stored[name] = value }
    publishStoredMetrics() { simulation.log('info', 'Metrics', this.#stored); this.#stored = {} }
  }`,
}

const replacements: Plugin = {
  name: 'replacements',
  setup({ onResolve, onLoad }) {
    const simulated = (name: string) => ({ path: name, namespace: 'simulated' })
    onResolve({ filter: /\/lenses\/index\.ts$/ }, () => simulated('lenses'))
    onResolve({ filter: /\/failpoints\.ts$/ }, () => simulated('failpoints'))
    onResolve({ filter: /^@aws-lambda-powertools\// }, (found) => simulated(found.path))
    // The module keeps calls under way. If containers shared the module, they would all wait for a dead container's
    // call for a token.
    onResolve({ filter: /^@octokit\/auth-app$/ }, (found) => ({ path: fileURLToPath(import.meta.resolve(found.path)) }))
    onLoad({ filter: /.*/, namespace: 'simulated' }, (found) => ({ contents: sources[found.path] ?? '', loader: 'js' }))
  },
}

/** Loads the changed file with the change applied. */
function mutant(change: Change): Plugin {
  return {
    name: 'mutant',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/, namespace: 'file' }, (found) =>
        found.path === pathOf(change) ? { contents: changedFile(change), loader: 'ts' } : undefined,
      )
    },
  }
}

/** Pure files of shared/ are not bundled with the rooms. */
const vocabulary: Plugin = {
  name: 'vocabulary',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path: specifier, resolveDir }) => {
      const file = path.relative(repositoryRoot, path.resolve(resolveDir, specifier))
      return pureFile.test(file) ? { path: `./${file}`, external: true } : undefined
    })
  },
}
