/** Go's own glue for its WebAssembly: as it is loaded it puts the class `Go` on the global object, and exports nothing. */
declare module '*/wasm_exec.js' {}

/** The part of WebAssembly that is used: TypeScript describes it for browsers only. */
declare namespace WebAssembly {
  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module'
  }
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>
  }
  type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>
  function compile(bytes: Uint8Array): Promise<Module>
  function instantiate(module: Module, imports: Imports): Promise<Instance>
}
