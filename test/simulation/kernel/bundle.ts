/** All rooms as one script: evaluating it is a cold start, with module state of its own. Packages are loaded once and shared. */
import { createRequire } from 'node:module'
import path from 'node:path'
import { Script } from 'node:vm'
import { build, type Plugin } from 'esbuild'
import { repositoryRoot } from '../../../infra/bundle.ts'
import { type RoomName, roomNames } from '../../../infra/rooms.ts'
import type { Lens, LensName } from '../../../shared/lens.ts'
import type { Point } from '../../../shared/points.ts'

/** What the rooms' code gets from the simulation in place of its own. */
export interface RoomHooks {
  /** In place of functions/review/lenses: analyzers would take real time, and models answer over real streams. */
  lensOf(name: LensName): Promise<Lens>
  log(level: 'info' | 'warn' | 'error', message: string, fields: object): void
  /** Called at each named point; the room goes on when it has settled. */
  reached(point: Point): Promise<void> | undefined
}

export type Handler = (event: unknown, context: object) => unknown

/** Loads one room with this environment, and everything that it imports of ours, anew. Answers its handler. */
export type ColdStart = (room: RoomName, environment: Readonly<Record<string, string>>, hooks: RoomHooks) => Handler

type Rooms = Readonly<Record<RoomName, () => { readonly handler: Handler }>>
type Evaluate = (
  require: (name: string) => unknown,
  module: { exports: Rooms },
  process: object,
  simulation: RoomHooks,
) => void

/** Bundles the rooms; once per process is enough. */
export async function bundleRooms(): Promise<ColdStart> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: repositoryRoot,
    stdin: { contents: entry(), resolveDir: repositoryRoot, sourcefile: 'rooms.ts', loader: 'ts' },
    write: false,
    metafile: true,
    bundle: true,
    packages: 'external',
    plugins: [replacements],
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // A failing seed is read by people.
    sourcemap: 'inline',
    logLevel: 'silent',
  })
  const code = outputFiles[0]?.text ?? ''
  const script = new Script(`(function (require, module, process, simulation) {${code}\n})`, {
    filename: path.join(repositoryRoot, 'rooms.cjs'),
  })
  const packages = await loaded(
    Object.values(metafile.outputs).flatMap(({ imports }) => imports.map((each) => each.path)),
  )
  const require = (name: string) => packages.get(name)
  const evaluate = script.runInThisContext() as Evaluate
  return (room, environment, hooks) => {
    const module = { exports: {} as Rooms }
    evaluate(require, module, { env: environment }, hooks)
    return module.exports[room]().handler
  }
}

/** `require` first, as the SDK's own packages require each other: a class must not be there twice. */
async function loaded(names: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const require = createRequire(path.join(repositoryRoot, 'rooms.cjs'))
  const packages = new Map<string, unknown>()
  for (const name of new Set(names)) {
    try {
      packages.set(name, require(name))
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
      packages.set(name, await import(name))
    }
  }
  return packages
}

/** `require` of a module that is bundled evaluates it when it is called: a container loads its own room only. */
function entry(): string {
  const rooms = roomNames.map((room) => `${room}: () => require('./functions/${room}/handler.ts'),`)
  return `module.exports = {${rooms.join('\n')}}`
}

/** Modules whose real code would do input or output, by what replaces them. */
const sources: Readonly<Record<string, string>> = {
  lenses: 'export const lensOf = (name) => simulation.lensOf(name)',
  points: 'export const reached = (point) => simulation.reached(point)',
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
    onResolve({ filter: /\/lenses\/index\.ts$/ }, () => ({ path: 'lenses', namespace: 'simulated' }))
    onResolve({ filter: /\/shared\/points\.ts$|^\.\.?\/points\.ts$/ }, () => ({
      path: 'points',
      namespace: 'simulated',
    }))
    onResolve({ filter: /^@aws-lambda-powertools\// }, ({ path }) => ({ path, namespace: 'simulated' }))
    onLoad({ filter: /.*/, namespace: 'simulated' }, ({ path }) => ({ contents: sources[path] ?? '', loader: 'js' }))
  },
}
