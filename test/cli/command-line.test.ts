/** The command as typed by a person: help, versions, mistakes. No test here starts a stack. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { makeRepository } from './repositories.ts'

const root = path.resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(path.join(tmpdir(), 'muster-command-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(file: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const env = { PATH: process.env.PATH, ...environment }
  return new Promise((resolve) => {
    execFile(file, args, { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

const muster = (args: readonly string[], environment?: NodeJS.ProcessEnv) =>
  run(process.execPath, [path.join(root, 'cli/main.ts'), ...args], environment)

test('every command has help with examples or exit codes, on stdout, and ends well', async () => {
  for (const [args, expected] of [
    [['--help'], /Exit codes:\n +0 .*\n +1 .*\n +2 .*\n +64 .*\n +69 .*\n +70 /],
    [['review', '--help'], /Examples:\n +\$ muster review/],
    [['help', 'up'], /Examples:\n +\$ muster up/],
  ] as const) {
    const { code, stdout, stderr } = await muster(args)
    expect(stdout).toMatch(expected)
    expect([code, stderr]).toEqual([0, ''])
  }
})

describe('wrong use ends with 64 and names the right use', () => {
  const cases: [string[], RegExp][] = [
    [['review', '--base', 'main', '--hed', 'x'], /unknown option '--hed'\n\(Did you mean --head\?\)/],
    [['rewiew'], /unknown command 'rewiew'\n\(Did you mean review\?\)/],
    [['review'], /required option '--base <ref>' not specified/],
    [['review', '--base', 'main', '--json', '--sarif'], /--json' cannot be used with option '--sarif'/],
    [['up', '--port', '70000'], /from 0 to 65535/],
    [['up', '--github-api-url', 'ftp://x'], /must begin with http/],
    [['up', 'extra'], /too many arguments/],
    [['fleet', 'set'], /name at least one limit/],
    [['fleet', 'set', '--concurrency', 'many'], /whole number, or default/],
    [['fleet', 'set', '--pool', '16'], /name and a limit: external=16/],
    [['fleet', 'set', '--enable', '--disable'], /exclude each other/],
    [['halt'], /missing required argument 'scope'/],
    [[], /Usage: muster/],
  ]
  test.each(cases)('muster %j', async (args, message) => {
    const { code, stdout, stderr } = await muster(args)
    expect(stderr).toMatch(message)
    expect([code, stdout]).toEqual([EXIT_CODES.usage.code, ''])
  })
})

describe('an unusable argument is one line with the remedy', () => {
  const repository = makeRepository(path.join(folder, 'repository'))
  repository.commit('Base', { 'a.txt': 'a\n' })
  const app = path.join(folder, 'app.json')
  writeFileSync(app, '{"appId": 1, "privateKey": "no-key-at-all", "webhookSecrets": ["never-printed"]}')
  const review = ['review', '--repo', repository.directory, '--base', 'main', '--state', path.join(folder, 'state')]
  const { usage, unavailable } = EXIT_CODES
  const noGit = path.join(folder, 'no-git')
  mkdirSync(noGit)
  const cases: [string, string[], NodeJS.ProcessEnv, RegExp, number][] = [
    ['a ref', [...review, '--head', 'nope'], {}, /^muster: ref_unknown: --head nope .*fetch/, usage.code],
    ['a folder', ['review', '--repo', folder, '--base', 'x'], {}, /^muster: not_a_git_repository: /, usage.code],
    ['a text', [...review, '--body-file', 'nope.md'], {}, /^muster: body_file_unreadable: .*nope\.md/, usage.code],
    ['a model', review, { MUSTER_MODEL: 'm' }, /^muster: model_settings_invalid: .*MUSTER_MODEL_URL/, usage.code],
    [
      'an App',
      ['up', '--github-app', app],
      {},
      /^muster: github_app_unreadable: .*private key.*privateKeyFile/,
      usage.code,
    ],
    ['a stack', ['fleet', '--state', folder], {}, /^muster: stack_not_running: .*muster up/, unavailable.code],
    ['git itself', review, { PATH: noGit }, /^muster: git_not_found: .*Install git/, unavailable.code],
  ]
  test.each(cases)('%s', async (_name, args, environment, line, exitCode) => {
    const { code, stdout, stderr } = await muster(args, environment)
    expect(stderr).toMatch(line)
    expect(stderr).toMatch(/^[^\n]*\n$/)
    expect(stderr).not.toContain('never-printed')
    expect([code, stdout]).toEqual([exitCode, ''])
  })
})

test('the launcher runs through links, from folders with blanks in their names', async () => {
  const bin = path.join(folder, 'a folder', 'bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(path.relative(bin, path.join(root, 'cli/muster')), path.join(bin, 'first'))
  symlinkSync('first', path.join(bin, 'second link'))
  const { code, stdout } = await run(path.join(bin, 'second link'), ['--version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(code).toBe(0)
})

test('an old Node.js gets the remedy before any other code is loaded', async () => {
  const old = path.join(folder, 'node')
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.19.4' })`
  writeFileSync(old, `#!/bin/sh\nexec '${process.execPath}' --import "data:text/javascript,${pretend}" "$@"\n`)
  chmodSync(old, 0o755)
  const { code, stderr } = await run(old, [path.join(root, 'cli/version-check.js')])
  expect(stderr).toMatch(/^muster: node_too_old: .*22\.18.*20\.19\.4.*npm run.*install Node\.js 24\.\n$/)
  expect(code).toBe(EXIT_CODES.unavailable.code)
  expect((await run(process.execPath, [path.join(root, 'cli/version-check.js')])).code).toBe(0)
})
