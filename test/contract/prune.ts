/**
 * Makes `github-openapi.json`: GitHub's own description of its REST API, cut down to the operations that the stand-in
 * serves. The whole description has 385 MB unpacked, too much for a dependency. To make the file again:
 *
 *     npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
 *     node test/contract/prune.ts package && npx biome format --write test/contract/github-openapi.json
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPERATIONS } from './operations.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

/** Prose, and most of the bytes. */
const WORDS = new Set([
  'description',
  'summary',
  'externalDocs',
  'tags',
  'x-github',
  'x-octokit',
  'deprecated',
  'example',
])
/** Below these keys, the keys are chosen names, and none is a keyword above. */
const NAMED = new Set(['properties', 'patternProperties', 'schemas', 'parameters', 'responses', 'headers', 'examples'])

const [unpacked] = process.argv.slice(2)
if (unpacked === undefined) {
  console.error('openapi_path_missing: name the folder of the unpacked package @octokit/openapi.')
  process.exit(64)
}
const whole = objectAt(JSON.parse(readFileSync(join(unpacked, 'generated/api.github.com.json'), 'utf8')))
const { version } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as { version: string }
const license = readFileSync(join(unpacked, 'LICENSE'), 'utf8')

const pruned: JsonObject = {
  openapi: whole.openapi ?? '',
  info: {
    title: `GitHub’s REST API: ${OPERATIONS.length} operations out of @octokit/openapi ${version}`,
    version,
    license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT' },
  },
  paths: {},
  components: {},
}
for (const operation of OPERATIONS) {
  const [method = '', path = ''] = operation.split(' ')
  const described = objectAt(objectAt(whole.paths)[path])[method.toLowerCase()]
  if (described === undefined) {
    console.error(`unknown_operation: GitHub describes no ${operation}. Correct it in operations.ts.`)
    process.exit(65)
  }
  keep(pruned, ['paths', path, method.toLowerCase()], withoutWords(described))
}
const wanted = referencesIn(objectAt(pruned.paths))
// The list grows during the walk: a kept part may refer to more.
for (const reference of wanted) {
  const path = reference.slice('#/'.length).split('/')
  const component = path.reduce<Json | undefined>((value, key) => objectAt(value)[key], whole)
  if (component === undefined) throw new Error(`dangling_reference: ${reference} is not in GitHub’s description.`)
  const kept = path[1] === 'examples' ? component : withoutWords(component)
  keep(pruned, path, kept)
  if (path[1] !== 'examples') for (const more of referencesIn(kept)) wanted.add(more)
}
writeFileSync(join(import.meta.dirname, 'github-openapi.json'), `${JSON.stringify(pruned)}\n`)
writeFileSync(join(import.meta.dirname, 'github-openapi.LICENSE'), license)
console.log(`${OPERATIONS.length} operations, ${wanted.size} components`)

function objectAt(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function withoutWords(value: Json, named = false): Json {
  if (Array.isArray(value)) return value.map((one) => withoutWords(one))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => named || !WORDS.has(key))
  return Object.fromEntries(
    // An example's value is GitHub's answer, word for word.
    entries.map(([key, one]) => [key, key === 'value' ? one : withoutWords(one, !named && NAMED.has(key))]),
  )
}

function referencesIn(value: Json, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const one of value) referencesIn(one, found)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      if (key === '$ref' && typeof one === 'string') found.add(one)
      else referencesIn(one, found)
    }
  }
  return found
}

function keep(target: JsonObject, path: readonly string[], value: Json): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    target[key] = value
    return
  }
  const next = objectAt(target[key])
  target[key] = next
  keep(next, rest, value)
}
