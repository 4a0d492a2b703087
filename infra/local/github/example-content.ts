/**
 * The example's history: a parcel tracking service, and a branch that archives old parcels. Its secrets are made up
 * from parts at build time, so that no scanner finds a secret in Muster's own sources.
 */
import { createHash } from 'node:crypto'

interface Refs {
  base: string
  head: string
  next: string
}

const ANA = { name: 'Ana Sousa', email: 'ana@example.com' }
const JUN = { name: 'Jun Park', email: 'jun@example.com' }

const FIRST_COMMIT_AT_SECONDS = Date.UTC(2026, 8, 14, 9, 0) / 1_000
const DAY_SECONDS = 86_400

/** Three commits on the base branch, two on the head branch, and the commit of the later push. */
export function exampleCommits(refs: Refs): ExampleCommit[] {
  const at = (day: number) => FIRST_COMMIT_AT_SECONDS + day * DAY_SECONDS
  return [
    { ref: refs.base, message: 'Track parcels\n', author: ANA, at: at(0), files: SERVICE },
    { ref: refs.base, message: 'Test on every push\n', author: JUN, at: at(3), files: CONTINUOUS_INTEGRATION },
    { ref: refs.base, message: 'Review pull requests with Muster\n', author: ANA, at: at(9), files: REVIEW_SETTINGS },
    {
      ref: refs.head,
      message: 'Rename labels to shipping labels\n\nThe old label format has no reader left.\n',
      author: JUN,
      at: at(14),
      files: RENAME,
    },
    {
      ref: refs.head,
      message: 'Archive parcels 90 days after delivery\n',
      author: JUN,
      at: at(15),
      files: { ...archiveFiles(), '.github/workflows/ci.yml': BROKEN_WORKFLOW },
    },
    {
      ref: refs.next,
      message: 'Take the credentials from the environment\n',
      author: JUN,
      at: at(16),
      files: { 'src/archive.js': ARCHIVE_WITHOUT_SECRETS },
    },
  ]
}

const PARCELS = `/** Parcels and where they are. */
const parcels = new Map()

export function register(id, recipient) {
  if (parcels.has(id)) throw new Error(\`Parcel \${id} is registered already\`)
  parcels.set(id, { id, recipient, status: 'registered', deliveredAt: null })
}

export function find(id) {
  return parcels.get(id) ?? null
}

export function deliver(id, at = Date.now()) {
  const parcel = parcels.get(id)
  if (!parcel) throw new Error(\`There is no parcel \${id}\`)
  parcel.status = 'delivered'
  parcel.deliveredAt = at
}

export function all() {
  return [...parcels.values()]
}
`

const LABELS = `/** What is printed on a parcel. */
export function labelFor(parcel) {
  return [parcel.recipient.name, parcel.recipient.street, parcel.recipient.city, parcel.id].join('\\n')
}

export function barcodeFor(parcel) {
  return parcel.id.replaceAll('-', '').padStart(12, '0')
}
`

const SERVICE: ExampleCommit['files'] = {
  'README.md': `# Parcels

Tracks parcels from registration to delivery.

    npm start        # http://localhost:3000
    npm test
`,
  'package.json': `${JSON.stringify(
    {
      name: 'parcels',
      version: '1.4.0',
      private: true,
      type: 'module',
      scripts: { start: 'node src/server.js', test: 'node --test' },
    },
    null,
    2,
  )}\n`,
  'src/server.js': `/** GET /parcels/<id> */
import { createServer } from 'node:http'
import { find } from './parcels.js'

createServer((request, response) => {
  const id = request.url?.split('/').at(-1) ?? ''
  const parcel = find(id)
  response.writeHead(parcel ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(parcel))
}).listen(3000)
`,
  'src/parcels.js': PARCELS,
  'src/labels.js': LABELS,
  'src/old-label-format.js': `/** Labels as they were before 2024, for printers that have been replaced since. */
export function oldLabelFor(parcel) {
  return \`\${parcel.recipient.name} / \${parcel.id}\`
}
`,
  'test/parcels.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, find, register } from '../src/parcels.js'

test('a delivered parcel says when', () => {
  register('p-1', { name: 'Lee', street: 'Rua A 1', city: 'Porto' })
  deliver('p-1', 1_000)
  assert.equal(find('p-1').deliveredAt, 1_000)
})
`,
  // A spreadsheet's export, with a spreadsheet's line endings.
  'data/carriers.csv': 'code,name,days\r\nCTT,CTT Expresso,2\r\nDHL,DHL,1\r\n',
}

const WORKFLOW = `name: CI
on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm test
`

const CONTINUOUS_INTEGRATION: ExampleCommit['files'] = {
  '.github/workflows/ci.yml': WORKFLOW,
  '.github/PULL_REQUEST_TEMPLATE.md': `## Why

<!-- What is wrong or missing today, and for whom? -->

## What changes

<!-- What a reviewer should look at first. -->

## How it was tested

<!-- Commands, and what you saw. -->
`,
}

const REVIEW_SETTINGS: ExampleCommit['files'] = {
  '.github/muster.yml': `# How Muster reviews pull requests against this branch.
lenses:
  # Needs a model. Off, so that the example works on a machine that has none: switch it on when you have configured one.
  correctness: off
`,
}

const RENAME: ExampleCommit['files'] = {
  'src/labels.js': null,
  'src/shipping-labels.js': LABELS.replace(
    '/** What is printed on a parcel. */',
    '/** What is printed on a parcel that is shipped. */',
  ),
  'src/old-label-format.js': null,
}

/** Three faults that actionlint knows: a missing job, a missing matrix value, and a title run as a script. */
const BROKEN_WORKFLOW = `name: CI
on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [22, 24]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: \${{ matrix.nodes }}
      - run: npm test

  greet:
    needs: [tests]
    runs-on: ubuntu-latest
    steps:
      - run: echo "Thank you for \${{ github.event.pull_request.title }}"
`

/** A red square of 1 × 1 pixel: the smallest picture. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)

function archiveFiles(): ExampleCommit['files'] {
  return {
    'src/archive.js': archiveSource(`${awsCredentials()}\nconst SIGNING_KEY = \`${privateKey()}\`\n`),
    'src/server.js': `/** GET /parcels/<id>, and the archive once a day */
import { createServer } from 'node:http'
import { archiveDelivered } from './archive.js'
import { find } from './parcels.js'

const DAY_MS = 24 * 60 * 60 * 1000

setInterval(() => archiveDelivered(Date.now()), DAY_MS)

createServer((request, response) => {
  const id = request.url?.split('/').at(-1) ?? ''
  const parcel = find(id)
  response.writeHead(parcel ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(parcel))
}).listen(3000)
`,
    'docs/código postal – 우편.md': `# Postal codes

Archived parcels keep their postal code, in the country's own writing.
`,
    'docs/archive.png': PICTURE,
    'data/carriers.csv': 'code,name,days\r\nCTT,CTT Expresso,2\r\nDHL,DHL,1\r\nKPO,우체국택배,2\r\n',
  }
}

const ARCHIVE_WITHOUT_SECRETS = archiveSource(`const credentials = {
  accessKeyId: process.env.ARCHIVE_ACCESS_KEY_ID,
  secretAccessKey: process.env.ARCHIVE_SECRET_ACCESS_KEY,
}
const SIGNING_KEY = process.env.ARCHIVE_SIGNING_KEY
`)

function archiveSource(credentials: string): string {
  return `/** Moves parcels that were delivered long ago out of the way. */
import { createSign } from 'node:crypto'
import { all } from './parcels.js'

const BUCKET = 'https://parcels-archive.s3.eu-west-1.amazonaws.com'
const KEPT_MS = 90 * 24 * 60 * 60 * 1000

${credentials}
export async function archiveDelivered(now) {
  for (const parcel of all()) {
    if (parcel.deliveredAt === null || now - parcel.deliveredAt < KEPT_MS) continue
    const body = JSON.stringify(parcel)
    const signature = createSign('sha256').update(body).sign(SIGNING_KEY, 'base64')
    await fetch(\`\${BUCKET}/\${parcel.id}.json\`, {
      method: 'PUT',
      headers: { 'x-access-key': credentials.accessKeyId, 'x-signature': signature },
      body,
    })
  }
}
`
}

/** Shaped like real credentials, and worthless: the rest is a digest of a constant. */
function awsCredentials(): string {
  const id = ['AK', 'IA', letters('access key id', 16)].join('')
  const secret = characters('secret access key', 40)
  return `const credentials = {\n  accessKeyId: '${id}',\n  secretAccessKey: '${secret}',\n}`
}

/** Begins as a key of 1,024 bits does, by which scanners tell a key from a placeholder; the rest is no key. */
function privateKey(): string {
  const word = ['PRIVATE', 'KEY'].join(' ')
  const text = `MIICXAIBAAKBgQ${Array.from({ length: 13 }, (_, part) => characters(`private key ${part}`, 64)).join('')}`
  const lines = text.slice(0, 12 * 64 + 44).match(/.{1,64}/g) ?? []
  return [`-----BEGIN RSA ${word}-----`, ...lines, `-----END RSA ${word}-----`].join('\n')
}

/** The alphabet of an AWS access key id. */
function letters(seed: string, length: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  return [...digest(seed).subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join('')
}

function characters(seed: string, length: number): string {
  return digest(seed).toString('base64').replaceAll('=', '').slice(0, length)
}

/** 64 bytes that look random and are always the same. */
function digest(seed: string): Buffer {
  return createHash('sha512').update(`muster example: ${seed}`).digest()
}

export interface ExampleCommit {
  /** The ref of this commit after the whole import. */
  ref: string
  message: string
  author: { name: string; email: string }
  /** Seconds since 1970. */
  at: number
  /** Contents by path; null deletes. Unnamed files stay as in the commit before. */
  files: Record<string, string | Buffer | null>
}
