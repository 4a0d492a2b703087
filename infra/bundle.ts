/**
 * Bundles a room into the folder that Lambda gets: one small `index.mjs`, chunks for lazy imports, and the room's
 * assets. The same sources give the same bytes in every folder.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build, type Metafile } from 'esbuild'
import { type RoomAsset, type RoomName, roomNames, rooms } from './rooms.ts'

/** The repository's root: entries, assets and the names in source maps are relative to it. */
export const repositoryRoot = path.resolve(import.meta.dirname, '..')

export interface BundleOptions {
  /** Absolute path of the room's entry. */
  readonly entry: string
  /** Absolute path of the output folder; earlier content is removed. */
  readonly directory: string
  readonly assets?: readonly RoomAsset[]
}

/**
 * CommonJS dependencies inside an ES module still call `require` for Node's own modules.
 * https://github.com/evanw/esbuild/issues/1921
 */
const requireBanner = `import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);`

/** Writes one bundle and resolves with esbuild's metafile. Rejects for a source that can't be bundled. */
export async function bundle({ entry, directory, assets = [] }: BundleOptions): Promise<Metafile> {
  // Paths inside the output depend on the output's location, so every bundle claims one location that doesn't exist.
  const nominalDirectory = path.join(repositoryRoot, 'bundle')
  const { outputFiles, metafile } = await build({
    absWorkingDir: repositoryRoot,
    entryPoints: { index: entry },
    outdir: nominalDirectory,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    splitting: true,
    // The bundle holds the SDK in the tested version; the runtime's own SDK is older.
    mainFields: ['module', 'main'],
    conditions: ['module'],
    minify: true,
    // Class names are lost. Errors carry their names as literals, and Step Functions matches those.
    keepNames: false,
    // Removes the failpoints of tests (shared/base/failpoints.ts) from the deployed code.
    dropLabels: ['FAILPOINT'],
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    banner: { js: requireBanner },
    logLevel: 'silent',
  })
  refuseLazyCommonJs(metafile)
  await rm(directory, { recursive: true, force: true })
  await rm(mapsOf(directory), { recursive: true, force: true })
  for (const file of outputFiles) {
    const base = file.path.endsWith('.map') ? mapsOf(directory) : directory
    const destination = path.join(base, path.relative(nominalDirectory, file.path))
    await mkdir(path.dirname(destination), { recursive: true })
    await writeFile(destination, file.contents)
  }
  for (const asset of assets) await cp(path.join(repositoryRoot, asset.source), path.join(directory, asset.name))
  return metafile
}

/** Source maps stay with the deployer: to parse them at each cold start would cost as much as to load the code. */
export function mapsOf(directory: string): string {
  return `${directory}.maps`
}

/**
 * A CommonJS module in a chunk has a default export only, while Node.js itself finds the named exports too: code that
 * works from its sources would fail when deployed. https://github.com/evanw/esbuild/issues/3245
 */
function refuseLazyCommonJs({ inputs }: Metafile): void {
  for (const [importer, { imports }] of Object.entries(inputs)) {
    if (importer.includes('node_modules/')) continue
    const lazy = imports.find(({ kind, path: target }) => kind === 'dynamic-import' && inputs[target]?.format === 'cjs')
    if (lazy !== undefined) {
      throw new Error(
        `${importer} imports ${lazy.original ?? lazy.path} lazily, a CommonJS module that would lose its named exports. ` +
          'Export the needed names from a source file of the repository, and import that file lazily.',
      )
    }
  }
}

export interface RoomBundlesOptions {
  /** Absolute path of the folder that holds a folder for each room, with its `handler.ts`. */
  readonly roomsDirectory: string
  /** Absolute path of the folder that gets a folder for each room, and `<room>.meta.json` beside each. */
  readonly outputDirectory: string
}

/**
 * Bundles every room, and resolves with the folder of each. All rooms are tried before the promise rejects; the error
 * names every room that can't be bundled.
 */
export async function bundleRooms(options: RoomBundlesOptions): Promise<Record<RoomName, string>> {
  const outcomes = await Promise.allSettled(
    roomNames.map(async (room) => {
      const directory = path.join(options.outputDirectory, room)
      const metafile = await bundle({
        entry: path.join(options.roomsDirectory, room, 'handler.ts'),
        directory,
        assets: rooms[room].assets ?? [],
      })
      await writeFile(metafileOf(options.outputDirectory, room), JSON.stringify(metafile))
      return [room, directory] as const
    }),
  )
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
  if (failures.length > 0) {
    throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'))
  }
  const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  return Object.fromEntries(made) as Record<RoomName, string>
}

/**
 * Stands in for every bundle where a template is wanted without code. A deployed placeholder answers with its own
 * error.
 */
export async function placeholderBundles(outputDirectory: string): Promise<Record<RoomName, string>> {
  const directory = path.join(outputDirectory, 'placeholder')
  await mkdir(directory, { recursive: true })
  await writeFile(
    path.join(directory, 'index.mjs'),
    `export const handler = () => { throw new Error('This function was synthesized without its code. Deploy with bundling on.') }\n`,
  )
  return Object.fromEntries(roomNames.map((room) => [room, directory])) as Record<RoomName, string>
}

/** Reads esbuild's metafile of a room's bundle: the contents, and the size of each part. */
export async function readMetafile(outputDirectory: string, room: RoomName): Promise<Metafile> {
  return JSON.parse(await readFile(metafileOf(outputDirectory, room), 'utf8')) as Metafile
}

function metafileOf(outputDirectory: string, room: RoomName): string {
  return path.join(outputDirectory, `${room}.meta.json`)
}
