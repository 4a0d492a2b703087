/** Effects of one sweep that run once, however many items ask for them. */
export interface Tick {
  /** Runs `effect` at the first call with a name; a later call with the same name settles as the first. */
  once(name: string, effect: () => Promise<void>): Promise<void>
}

export function newTick(): Tick {
  const begun = new Map<string, Promise<void>>()
  return {
    once(name, effect) {
      const known = begun.get(name) ?? effect()
      begun.set(name, known)
      return known
    },
  }
}
