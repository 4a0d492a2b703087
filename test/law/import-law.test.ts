/** The import law holds for every source, and each of its rules refuses a breach. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { breaches, circles, lawFolders } from './law.ts'
import { readSource, sourcesBelow } from './sources.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const declared = new Set(Object.keys({ ...dependencies, ...optionalDependencies }))
/** Packages of types only, which leave no code. */
const typePackages = ['@octokit/types', '@octokit/openapi-types', '@octokit/openapi-webhooks-types']

test('every source keeps the import law', () => {
  const sources = sourcesBelow(root, lawFolders).map(readSource)
  expect(sources.length).toBeGreaterThan(0)
  expect(breaches(sources, new Set([...declared, ...typePackages]))).toEqual([])
})

test('no files import each other in a circle, types included', () => {
  expect(circles(sourcesBelow(root, lawFolders).map(readSource))).toEqual([])
})

test('a circle is named by its files, in the order of their imports', () => {
  const texts = {
    a: `import type { B } from './b.ts'`,
    b: `import { c } from './c.ts'`,
    c: `import { b } from './b.ts'`,
  }
  const sources = Object.entries(texts).map(([name, text]) => readSource({ path: `infra/${name}.ts`, text }))
  expect(circles(sources)).toEqual([['infra/b.ts', 'infra/c.ts']])
})

/** The breaches of one invented source. */
function breachesOf(file: string, text: string): string[] {
  return breaches([readSource({ path: file, text })], new Set([...declared, 'undici']))
}

describe('allowed imports', () => {
  test.each([
    [
      'shared/runs/run.ts',
      `import { sha256 } from '../base/digest.ts'\nimport { createHash } from 'node:crypto'\nimport * as z from 'zod'`,
    ],
    [
      'shared/ledger/run.ts',
      `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'\nimport { withDeadline } from '../aws/client.ts'`,
    ],
    ['shared/github/client.ts', `import { Octokit } from '@octokit/core'\nimport { Dead } from '../base/errors.ts'`],
    [
      'shared/coordinator/ending.ts',
      `import { endRun } from '../ledger/run.ts'\nimport { putDocument } from '../documents/documents.ts'`,
    ],
    [
      'functions/plan/handler.ts',
      `import { plan } from './core/plan.ts'\nimport { openLedger } from '../../shared/ledger/table.ts'`,
    ],
    [
      'functions/plan/core/plan.ts',
      `import { parse } from 'yaml'\nimport { configurationOf } from './configuration.ts'\nimport { digestOf } from '../../../shared/base/digest.ts'`,
    ],
    [
      'functions/review/lenses/secrets/secrets.ts',
      `import { lintSource } from '@secretlint/core'\nimport { right } from '../right-side.ts'`,
    ],
    ['functions/post/core/posting.ts', `import type { Message } from '../../../shared/ledger/message.ts'`],
    ['infra/stack.ts', `import { Stack } from 'aws-cdk-lib'\nimport { reach } from './reach.ts'`],
    ['infra/local/boot.ts', `import { rooms } from '../rooms.ts'\nimport { createServer } from 'node:http'`],
    ['infra/local/worker.ts', 'const load = (bundle: string) => import(bundle)'],
    ['cli/main.ts', `import { Command } from 'commander'\nimport { boot } from '../infra/local/boot.ts'`],
    ['shared/ledger/keys.ts', 'export const keyOf = (id: string) => ({ pk: `RUN#${' + 'id}`, sk: "RUN" })'],
    ['shared/base/limits.ts', `// the local engine has another limit\nexport const text = 'a local variable'`],
  ])('the law allows: %s', (file, text) => {
    expect(breachesOf(file, text)).toEqual([])
  })
})

describe('breaches and their messages', () => {
  test.each([
    ['a pure file that knows an adapter', 'shared/runs/run.ts', `import { x } from '../ledger/run.ts'`],
    ['a pure file that knows a later subject', 'shared/runs/run.ts', `import { x } from '../verdict/plan.ts'`],
    ['a type of a later subject', 'shared/base/text.ts', `import type { X } from '../runs/run.ts'`],
    ['a file of shared outside every folder', 'shared/run.ts', `import { x } from './runs/run.ts'`],
    ['a pure file that reads files', 'shared/runs/run.ts', `import { readFileSync } from 'node:fs'`],
    ['a pure file that re-exports a library', 'shared/runs/run.ts', `export { parse } from 'yaml'`],
    ['an adapter that knows another adapter', 'shared/ledger/run.ts', `import { x } from '../github/client.ts'`],
    [
      "an adapter with another one's SDK",
      'shared/documents/documents.ts',
      `import { x } from '@aws-sdk/client-dynamodb'`,
    ],
    ['a coordinator with an SDK', 'shared/coordinator/x.ts', `import { x } from '@aws-sdk/client-sfn'`],
    ['a coordinator that talks to GitHub', 'shared/coordinator/x.ts', `import { x } from '../github/client.ts'`],
    ['shared code that knows a room', 'shared/ledger/run.ts', `import { x } from '../../functions/plan/core/plan.ts'`],
    [
      'a core that knows an adapter',
      'functions/plan/core/plan.ts',
      `import { x } from '../../../shared/ledger/run.ts'`,
    ],
    [
      'a core that takes more than types',
      'functions/plan/core/plan.ts',
      `import { x, type X } from '../../../shared/ledger/run.ts'`,
    ],
    ['a core that knows its handler', 'functions/plan/core/plan.ts', `import { x } from '../handler.ts'`],
    ['a core that knows a file with effects', 'functions/plan/core/plan.ts', `import { x } from '../gather.ts'`],
    ['a core with a library', 'functions/plan/core/plan.ts', `import { x } from 'undici'`],
    ['a room that knows another room', 'functions/plan/handler.ts', `import { x } from '../admit/core/admission.ts'`],
    ['a handler with an SDK', 'functions/plan/handler.ts', `import { x } from '@aws-sdk/client-s3'`],
    [
      'a room that imports another lazily',
      'functions/plan/handler.ts',
      `const x = await import('../admit/core/admission.ts')`,
    ],
    [
      'L7, P4: a lens that could publish',
      'functions/review/lenses/x/x.ts',
      `import { x } from '../../../../shared/github/client.ts'`,
    ],
    ['a lens that knows its room', 'functions/review/lenses/x/x.ts', `import { x } from '../../core/review-result.ts'`],
    ['infrastructure that knows a room', 'infra/stack.ts', `import { x } from '../functions/plan/core/plan.ts'`],
    ['infrastructure that knows shared code', 'infra/stack.ts', `import { x } from '../shared/ledger/run.ts'`],
    ['infrastructure that knows one machine', 'infra/stack.ts', `import { x } from './local/boot.ts'`],
    ['one machine that knows a room', 'infra/local/boot.ts', `import { x } from '../../functions/plan/handler.ts'`],
    ['one machine that knows an adapter', 'infra/local/boot.ts', `import { x } from '../../shared/ledger/run.ts'`],
    ['a command line that knows a room', 'cli/main.ts', `import { x } from '../functions/plan/core/plan.ts'`],
    ['an undeclared package', 'cli/main.ts', `import { x } from 'left-pad'`],
    ['all of zod', 'shared/runs/run.ts', `import { z } from 'zod'`],
    ['a table key', 'functions/plan/handler.ts', 'const key = `RUN#1`'],
    ['the name of a key', 'shared/github/client.ts', 'export const key = { pk: 1 }'],
    ['an endpoint variable', 'shared/aws/client.ts', 'const x = process.env.AWS_ENDPOINT_URL_SQS'],
    ['a question about the environment', 'shared/aws/client.ts', 'const isLocal = true'],
    ['an address of one machine', 'functions/plan/handler.ts', `const url = 'http://127.0.0.1:80'`],
    [
      'a lazy import of what is only known when it runs',
      'shared/runs/run.ts',
      'export const load = (x: string) => import(x)',
    ],
    ['a bound outside of limits.ts', 'shared/runs/run.ts', 'export const DELIVERIES_MAX = 20'],
    ['a time outside of limits.ts', 'functions/plan/handler.ts', 'const WAIT_MS = 1_000'],
    ['a file in no zone', 'functions/plan.ts', `import { x } from './plan/core/plan.ts'`],
  ])('the law refuses: %s', (_what, file, text) => {
    const [breach = '', ...others] = breachesOf(file, text)
    expect(others).toEqual([])
    expect(breach.startsWith(`${file}:1: `)).toBe(true)
    expect(breach).toContain(' — ')
  })

  test('a breach names the line, the import and the rule', () => {
    expect(breachesOf('functions/plan/handler.ts', `\n\nimport { x } from '../admit/handler.ts'`)).toEqual([
      'functions/plan/handler.ts:3: imports ../admit/handler.ts — ' +
        'a room imports its own files, adapters and pure files; no room imports another',
    ])
  })
})
