/**
 * The stack as plain data for one machine: synthesized in a process of its own, resolved to concrete names, and kept
 * until a source changes, because a synth takes seconds and the read of a file does not.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { PlainStack } from '../plain-stack.ts'
import { plainStackFile } from './synthesize.ts'

export type * from '../plain-stack.ts'

/** The plain stack; the `bundle` of each function is an absolute path. */
export type Assembly = PlainStack

export interface AssemblyOptions {
  /** Folder of the kept assemblies; made if absent. One process at a time removes old assemblies. */
  readonly cacheDirectory: string
  /** Folder of the rooms; the repository's own if absent. */
  readonly roomsDirectory?: string
}

const repositoryRoot = path.resolve(import.meta.dirname, '../..')

/** Kept assemblies: the current one, and two for a return without a synth, as between branches. */
const keptAssemblies = 3

/** ms; the unfinished folder of a killed process is older than this: a synth takes seconds. */
const abandonedAfterMs = 60 * 60 * 1_000

/** ms; a synth takes 5 to 30 s, and longer on a busy machine. */
const synthMsMax = 5 * 60 * 1_000

const keptPrefix = 'assembly-'
const unfinishedPrefix = 'unfinished-'

/**
 * Resolves with the stack of the current sources. Needs no credentials, network or docker. Rejects if a room can't be
 * bundled, or names the logical id of an unresolvable value in the template.
 */
export async function loadAssembly(options: AssemblyOptions): Promise<Assembly> {
  const cacheDirectory = path.resolve(options.cacheDirectory)
  const roomsDirectory = options.roomsDirectory ?? path.join(repositoryRoot, 'functions')
  const directory = path.join(cacheDirectory, `${keptPrefix}${digestOfSources(roomsDirectory)}`)
  const kept = await readKept(directory)
  if (kept !== undefined) return kept

  await mkdir(cacheDirectory, { recursive: true })
  const unfinished = await mkdtemp(path.join(cacheDirectory, unfinishedPrefix))
  try {
    await synthesize(unfinished, roomsDirectory)
    await keep(unfinished, directory)
  } finally {
    // Left over after a failed synth, or after another process has made the same assembly.
    await rm(unfinished, { recursive: true, force: true })
  }
  await removeOld(cacheDirectory, directory)
  const made = await readKept(directory)
  if (made === undefined) throw new Error(`The assembly in ${directory} vanished while it was read. Start again.`)
  return made
}

/** The files of `infra/local` that make the assembly; all others only read the result. */
const assemblySources = [import.meta.filename, path.join(import.meta.dirname, 'synthesize.ts')]

/** All sources of the assembly. */
function digestOfSources(roomsDirectory: string): string {
  const local = path.join(repositoryRoot, 'infra/local')
  const sources = [roomsDirectory, ...['shared', 'infra', 'cdk.json', 'package-lock.json'].map(inRepository)]
  const hash = createHash('sha256')
  for (const file of sources.flatMap(filesOf)) {
    if (path.dirname(file).startsWith(local) && !assemblySources.includes(file)) continue
    hash.update(`\0${path.relative(repositoryRoot, file)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 32)
}

/** Files at and below a path, in the order of their names. */
function filesOf(source: string): string[] {
  if (!statSync(source).isDirectory()) return [source]
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}

function inRepository(name: string): string {
  return path.join(repositoryRoot, name)
}

/** Runs `synthesize.ts` in a process of its own: the CDK holds half a gigabyte, which would stay in this process. */
async function synthesize(directory: string, roomsDirectory: string): Promise<void> {
  const script = path.join(import.meta.dirname, 'synthesize.ts')
  try {
    await promisify(execFile)(process.execPath, [script, directory, roomsDirectory], { timeout: synthMsMax })
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() ?? ''
    throw new Error(said === '' ? `The stack could not be synthesized within ${synthMsMax / 1000} s.` : said, {
      cause: error,
    })
  }
}

/** Reads a kept assembly; undefined without a kept assembly. */
async function readKept(directory: string): Promise<Assembly | undefined> {
  const data = await readJson<PlainStack>(path.join(directory, plainStackFile)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )
  if (data === undefined) return undefined
  const functions = data.functions.map((each) => ({ ...each, bundle: path.join(directory, each.bundle) }))
  return { ...data, functions }
}

/** A rename is atomic: a killed process leaves no half assembly. */
async function keep(unfinished: string, directory: string): Promise<void> {
  await rename(unfinished, directory).catch((error: NodeJS.ErrnoException) => {
    const isMadeByAnother = error.code === 'ENOTEMPTY' || error.code === 'EEXIST'
    if (!isMadeByAnother) throw error
  })
}

/**
 * Removes all but the newest kept assemblies and the unfinished folders of killed processes. The given assembly stays.
 */
async function removeOld(cacheDirectory: string, current: string): Promise<void> {
  const folders = await Promise.all(
    (await readdir(cacheDirectory)).map(async (name) => {
      const directory = path.join(cacheDirectory, name)
      // Another process may have finished or removed the folder since.
      const found = await stat(directory).catch(() => undefined)
      return { name, directory, changedMs: found?.mtimeMs ?? Number.POSITIVE_INFINITY }
    }),
  )
  const old = folders
    .filter(({ name, directory }) => name.startsWith(keptPrefix) && directory !== current)
    .toSorted((one, other) => other.changedMs - one.changedMs)
    .slice(keptAssemblies - 1)
  const abandoned = folders.filter(
    ({ name, changedMs }) => name.startsWith(unfinishedPrefix) && changedMs < Date.now() - abandonedAfterMs,
  )
  for (const { directory } of [...old, ...abandoned]) await rm(directory, { recursive: true, force: true })
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T
}
