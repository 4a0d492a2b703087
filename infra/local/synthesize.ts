/** Synthesizes the stack and writes it as plain data; run as a program by `assembly.ts`: node synthesize.ts FOLDER ROOMS. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Account, Template } from '../template.ts'

/** The file with the stack as plain data in the folder; paths in the file are relative to the folder. */
export const plainStackFile = 'plain-stack.json'

/** A valid region and the usual account of AWS stand-ins; the account doesn't exist. */
const localAccount: Account = { partition: 'aws', region: 'us-east-1', accountId: '000000000000' }

const repositoryRoot = path.resolve(import.meta.dirname, '../..')

interface AssetManifest {
  readonly files: Readonly<Record<string, { readonly source: { readonly path: string } }>>
}

if (import.meta.main) {
  const [directory, roomsDirectory] = process.argv.slice(2)
  if (directory === undefined || roomsDirectory === undefined) throw new Error('Usage: synthesize.ts FOLDER ROOMS')
  await synthesize(directory, roomsDirectory).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  })
}

async function synthesize(directory: string, roomsDirectory: string): Promise<void> {
  // Imported here: an importer of the file's name alone needs no CDK.
  const [{ App }, { addMuster }, { plainStack }] = await Promise.all([
    import('aws-cdk-lib'),
    import('../muster.ts'),
    import('../plain-stack.ts'),
  ])
  const { context } = await readJson<{ context: object }>(path.join(repositoryRoot, 'cdk.json'))
  const app = new App({ outdir: directory, context: { ...context }, analyticsReporting: false })
  const stack = await addMuster(app, roomsDirectory)
  app.synth()
  const template = await readJson<Template>(path.join(directory, `${stack.artifactId}.template.json`))
  const manifest = await readJson<AssetManifest>(path.join(directory, `${stack.artifactId}.assets.json`))
  const assets = Object.entries(manifest.files).map(([hash, { source }]) => [hash, source.path] as const)
  const data = plainStack(template, Object.fromEntries(assets), localAccount)
  await writeFile(path.join(directory, plainStackFile), JSON.stringify(data))
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T
}
