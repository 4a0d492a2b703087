/** The CDK command line with this app: its version, and a synth on a neutral machine. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repositoryRoot } from '../../infra/bundle.ts'

const run = promisify(execFile)

/** ms; the command line itself takes seconds to load on a busy machine. */
const commandTimeoutMs = 120_000

let home: string

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'muster-home-'))
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Runs `npx cdk` with an empty home, no credentials, and a proxy that leads nowhere. */
async function cdk(...parameters: string[]): Promise<string> {
  const nowhere = 'http://127.0.0.1:9'
  const { stdout } = await run('npx', ['--no-install', 'cdk', ...parameters], {
    cwd: repositoryRoot,
    timeout: commandTimeoutMs,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  })
  return stdout
}

describe('the CDK command line', () => {
  test(
    'AW89: the CDK command line has the version of the lock file',
    async () => {
      const lock = JSON.parse(readFileSync(path.join(repositoryRoot, 'package-lock.json'), 'utf8'))
      expect(await cdk('--version')).toMatch(new RegExp(`^${lock.packages['node_modules/aws-cdk'].version} `))
    },
    commandTimeoutMs,
  )

  test(
    'the CDK command line lists the stack without credentials, network, docker or bundling',
    async () => {
      expect((await cdk('list', '--output', path.join(home, 'out'))).trim()).toBe('Muster')
    },
    commandTimeoutMs,
  )

  test('every recommended feature flag is set as recommended', () => {
    const recommended = path.join(repositoryRoot, 'node_modules/aws-cdk-lib/recommended-feature-flags.json')
    const { context } = JSON.parse(readFileSync(path.join(repositoryRoot, 'cdk.json'), 'utf8'))
    expect(context).toMatchObject(JSON.parse(readFileSync(recommended, 'utf8')))
  })

  test('the CDK command line asks for no notices, and reports no use', () => {
    const configuration = JSON.parse(readFileSync(path.join(repositoryRoot, 'cdk.json'), 'utf8'))
    expect(configuration).toMatchObject({
      versionReporting: false,
      notices: false,
      context: { 'cli-telemetry': false },
    })
  })
})
