/**
 * The load of a cold start: the size of each function's bundle, and the time of its import in a fresh process. The peer
 * is a bundle of `@aws-sdk/lib-dynamodb` alone, the smallest possible bundle of a function with access to the table.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { parseSync } from 'oxc-parser'
import { bundle } from '../infra/bundle.ts'
import { loadAssembly } from '../infra/local/assembly.ts'
import type { Bench, Measurement, Outcome, Workspace } from './measurement.ts'

export const coldStart: Bench = {
  name: 'cold-start',
  measures: 'bundle size and import time of the functions, the webhook first, beside lib-dynamodb alone',
  run,
}

/** Fresh processes for the webhook and the peer. */
const IMPORTS = 10
/** Every second round imports the other functions too: enough to see which function has grown. */
const ROUNDS_FOR_OTHERS = 2
const FIRST = 'webhook'
/** The time limit of an import, ms. */
const IMPORT_MS_MAX = 20_000
const BYTES_PER_KB = 1_000
const PEER = 'lib-dynamodb alone'

/** Measured inside the process, without the start of Node.js itself. */
const IMPORT_SCRIPT = `
  const [, url] = process.argv
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  await import(url)
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  process.stdout.write(JSON.stringify({ ms, processorMs: (user + system) / 1_000 }))
  process.exit()`

interface Candidate {
  readonly name: string
  /** Absolute path of `index.mjs`. */
  readonly file: string
  readonly environment: Readonly<Record<string, string>>
  readonly imports: ImportTime[]
}

interface ImportTime {
  readonly ms: number
  /** Of all threads, so possibly more than the elapsed time. */
  readonly processorMs: number
}

async function run({ directory, cacheDirectory, signal }: Workspace): Promise<Outcome> {
  const peerDirectory = path.join(directory, 'peer')
  await bundle({ entry: path.join(import.meta.dirname, 'support/lib-dynamodb.ts'), directory: peerDirectory })
  const { functions } = await loadAssembly({ cacheDirectory })
  const peer = candidate(PEER, peerDirectory, {})
  const ours = functions.map(({ name, bundle: folder, environment }) => candidate(name, folder, environment))

  // In turns: the machine's other work meets all functions alike.
  for (let round = 0; round < IMPORTS; round += 1) {
    const turn = ours.filter(({ name }) => name === FIRST || round % ROUNDS_FOR_OTHERS === 0)
    for (const each of [peer, ...turn]) each.imports.push(await importOnce(each, signal))
  }
  const peerSize = await sizeOf(peer.file)
  const measurements: Measurement[] = []
  for (const { name, file, imports } of ours) {
    const size = await sizeOf(file)
    measurements.push(
      row(name, 'bundle', 'kB', [size.bytes / BYTES_PER_KB], [peerSize.bytes / BYTES_PER_KB]),
      row(name, 'bundle, gzip', 'kB', [size.gzipBytes / BYTES_PER_KB], [peerSize.gzipBytes / BYTES_PER_KB]),
      row(
        name,
        'import',
        'ms',
        imports.map(({ ms }) => ms),
        peer.imports.map(({ ms }) => ms),
      ),
      row(
        name,
        'import, processor time',
        'ms',
        imports.map(({ processorMs }) => processorMs),
        peer.imports.map(({ processorMs }) => processorMs),
      ),
    )
  }
  return {
    measurements,
    notes: [
      'Size: the first import (index.mjs and its statically imported chunks), minified; a lazily imported chunk counts at its use.',
      'Import: a fresh process each time, without a compile cache, in turns. Processor time is the same on a busy machine as on an idle one.',
    ],
  }
}

function candidate(name: string, folder: string, environment: Readonly<Record<string, string>>): Candidate {
  return { name, file: path.join(folder, 'index.mjs'), environment, imports: [] }
}

function row(
  group: string,
  what: string,
  unit: string,
  samples: readonly number[],
  peerSamples: readonly number[],
): Measurement {
  return { group, what, unit, samples, peer: { what: PEER, samples: peerSamples } }
}

async function importOnce({ file, environment }: Candidate, signal: AbortSignal): Promise<ImportTime> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', IMPORT_SCRIPT, file],
    {
      // Only the variables of the function's configuration; no compile cache comes in from outside.
      env: { ...environment, AWS_REGION: 'us-east-1', NODE_DISABLE_COMPILE_CACHE: '1' },
      timeout: IMPORT_MS_MAX,
      signal,
    },
  )
  return JSON.parse(stdout) as ImportTime
}

/** Follows static imports between the files of a bundle. */
async function sizeOf(entry: string): Promise<{ bytes: number; gzipBytes: number }> {
  const size = { bytes: 0, gzipBytes: 0 }
  const seen = new Set([entry])
  for (const file of seen) {
    const content = await readFile(file)
    size.bytes += content.byteLength
    size.gzipBytes += gzipSync(content).byteLength
    const { staticImports, staticExports } = parseSync(file, content.toString('utf8')).module
    const targets = [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? '')),
    ]
    for (const target of targets) if (target.startsWith('.')) seen.add(path.resolve(path.dirname(file), target))
  }
  return size
}
